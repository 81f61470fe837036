import { startFacilitator } from '../facilitator/facilitator.ts';
import { createPayers, PRICE_MICRO, settleCalls } from '../harness/actors.ts';
import { startPayingStack } from '../harness/paying-stack.ts';
import type { Ratio } from '../harness/rounds.ts';
import { type Benchmark, type PaceOfRun, pacesOf, part, type Run } from '../harness/run.ts';
import { noteDurability } from '../harness/stack.ts';
import { compareSettles, type SettleSides } from './settle-rounds.ts';

/** So many that the open calls of one payer are few, also with 1,024 connections. */
const PAYERS = 64;
const AT_ONCE = [16, 64];
const AT_SLOTS = [1, 16, 64, 256, 1024];

export const settle: Benchmark = {
  about: 'POST /v1/settle against the x402 reference facilitator, on a chain at once and at 400 ms slots',
  run: async (run) => {
    for (const each of pacesOf(run.options)) await part(run, (own) => atPace(own, each));
  },
};

const atPace = async (run: Run, { slotMs, named }: PaceOfRun): Promise<void> => {
  const fixture = await createFixture(run, slotMs);
  for (const concurrency of run.options.concurrencies ?? (slotMs === 0 ? AT_ONCE : AT_SLOTS)) {
    const title = `settle, ${named}, concurrency ${concurrency}`;
    showTargets(run, title, await compareSettles(run, fixture, { title, concurrency }), slotMs);
    if (slotMs === 0) continue;
    // Without a pause, a client whose call is answered right after a slot begins its next call with
    // the same slot, and always waits for a whole slot.
    const spread = { title: `${title}, spread over a slot`, concurrency, restUpToMs: slotMs };
    showTargets(run, spread.title, await compareSettles(run, fixture, spread), slotMs);
  }
};

/**
 * On a chain at once nothing waits, and ours commits five times where the facilitator stores
 * nothing.
 */
const showTargets = ({ report }: Run, title: string, ratio: Ratio, slotMs: number): void => {
  report.target({
    what: `${title}: throughput, share of the facilitator’s`,
    value: ratio.perSecond.median,
    atLeast: slotMs === 0 ? 0.8 : 1,
  });
  if (slotMs === 0) return;
  for (const figure of ['p50', 'p99'] as const)
    report.target({
      what: `${title}: ${figure}, share of the facilitator’s`,
      value: ratio[figure].median,
      atMost: 1,
    });
};

/**
 * Both on one chain, each with its own payers, so that neither affects the balances of the other.
 */
const createFixture = async (run: Run, chainSlotMs: number): Promise<SettleSides> => {
  const label = `slots-${chainSlotMs}`;
  const { bench, load, ...actors } = await startPayingStack(run, label, { chainSlotMs, payerCount: PAYERS });
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
