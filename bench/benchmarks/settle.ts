import { startFacilitator } from '../facilitator/facilitator.ts';
import { createPayers, PRICE_MICRO, settleCalls } from '../harness/actors.ts';
import { startPayingStack } from '../harness/paying-stack.ts';
import type { Ratio } from '../harness/rounds.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { noteDurability } from '../harness/stack.ts';
import { compareSettles, type SettleSides } from './settle-rounds.ts';

/** So many that the open calls of one payer are few, also with 1,024 connections. */
const PAYERS = 64;
const CONCURRENCIES = [1, 16, 64, 256, 1024];
/** Slots of the real chain. */
const SLOT_MS = 400;
/** Above it the mean counts: a queue that is fair has its p50 near the mean. */
const P50_UP_TO = 256;

export const settle: Benchmark = {
  about: 'POST /v1/settle against the x402 reference facilitator, on a chain with 400 ms slots',
  run: async (run) => {
    const fixture = await createFixture(run);
    for (const concurrency of run.options.concurrencies ?? CONCURRENCIES) {
      const title = `settle, ${SLOT_MS} ms slots, concurrency ${concurrency}`;
      showTargets(run, { title, concurrency }, await compareSettles(run, fixture, { title, concurrency }));
      // Without a pause, a client whose call is answered right after a slot begins its next call
      // with the same slot, and always waits for a whole slot.
      const spread = { title: `${title}, spread over a slot`, concurrency, restUpToMs: SLOT_MS };
      showTargets(run, spread, await compareSettles(run, fixture, spread));
    }
  },
};

const showTargets = (
  { report }: Run,
  { title, concurrency }: { title: string; concurrency: number },
  ratio: Ratio,
): void => {
  report.target({
    what: `${title}: throughput, share of the facilitator’s`,
    value: ratio.perSecond.median,
    atLeast: 1,
  });
  for (const figure of [concurrency <= P50_UP_TO ? 'p50' : 'mean', 'p99'] as const)
    report.target({
      what: `${title}: ${figure}, share of the facilitator’s`,
      value: ratio[figure].median,
      atMost: 1,
    });
};

/**
 * Both on one chain, each with its own payers, so that neither affects the balances of the other.
 */
const createFixture = async (run: Run): Promise<SettleSides> => {
  const { bench, load, ...actors } = await startPayingStack(run, 'stack', {
    chainSlotMs: SLOT_MS,
    payerCount: PAYERS,
  });
  await noteDurability(bench, run);
  const { vendor } = actors;
  const theirs = await createPayers(bench, PAYERS);
  const payTo = vendor.payout.publicKey.toBase58();
  const facilitator = await startFacilitator(run, bench, { payTo, amountMicro: PRICE_MICRO });
  const ourCalls = (count: number) => settleCalls(bench, load, { ...actors, count });
  // A payer's first settle reads the chain. The warm-up of one connection does not reach them all.
  await load.run({
    kind: 'calls',
    origin: bench.stack.gateway_url,
    calls: await ourCalls(PAYERS),
    concurrency: 16,
  });
  return {
    bench,
    load,
    facilitator,
    ourCalls,
    theirCalls: (count) => facilitator.sign(theirs, count),
  };
};
