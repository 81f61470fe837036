import { startFacilitator } from '../facilitator/facilitator.ts';
import { createBenchVendor, createPayers, type Payer, PRICE_MICRO, settleCalls } from '../harness/actors.ts';
import { startLoad } from '../harness/load.ts';
import { templatePayment } from '../harness/rows.ts';
import { type Benchmark, part, type Run } from '../harness/run.ts';
import { compareSettles, type SettleSides } from '../harness/settle-rounds.ts';
import { noteDurability, startBenchStack } from '../harness/stack.ts';

const PAYERS = 8;
const CONCURRENCIES = [1, 16, 64];
const PACE_MS = 400;

export const settle: Benchmark = {
  about: 'POST /v1/settle against the x402 reference facilitator, on a chain at once and at 400 ms slots',
  run: async (run) => {
    for (const chainSlotMs of [0, PACE_MS]) await part(run, (own) => atPace(own, chainSlotMs));
  },
};

const atPace = async (run: Run, chainSlotMs: number): Promise<void> => {
  const fixture = await createFixture(run, chainSlotMs);
  for (const concurrency of CONCURRENCIES) {
    const pace = chainSlotMs === 0 ? 'chain at once' : `${chainSlotMs} ms slots`;
    const title = `settle, ${pace}, concurrency ${concurrency}`;
    const ratio = await compareSettles(run, fixture, { title, concurrency });
    const throughput = {
      what: `${title}: throughput, share of the facilitator’s`,
      value: ratio.perSecond.median,
    };
    if (chainSlotMs === 0) {
      if (concurrency > 1) {
        run.report.target({ ...throughput, atLeast: 1 });
        run.report.target({
          what: `${title}: p50, share of the facilitator’s`,
          value: ratio.p50.median,
          atMost: 1,
        });
      }
      continue;
    }
    if (concurrency === 64) run.report.target({ ...throughput, atLeast: 1 });
    // Without a pause, a client whose call is answered right after a slot begins its next call with
    // the same slot, and always waits for a whole slot.
    const spreadTitle = `${title}, spread over a slot`;
    const spread = await compareSettles(run, fixture, {
      title: spreadTitle,
      concurrency,
      restUpToMs: chainSlotMs,
    });
    run.report.target({
      what: `${spreadTitle}: p50, share of the facilitator’s`,
      value: spread.p50.median,
      atMost: 1.05,
    });
  }
};

/**
 * Both on one chain, each with its own payers, so that neither affects the balances of the other.
 */
const createFixture = async (run: Run, chainSlotMs: number): Promise<SettleSides> => {
  const bench = await startBenchStack(run, `slots-${chainSlotMs}`, { chainSlotMs });
  await noteDurability(bench, run);
  const load = await startLoad();
  run.defer(load.stop);
  const vendor = await createBenchVendor(bench);
  const ours: Payer[] = await createPayers(bench, PAYERS);
  const theirs: Payer[] = await createPayers(bench, PAYERS);
  // Creates the token account that both sides pay into, so that no round includes its cost.
  await templatePayment(bench, vendor, ours[0]!);
  const payTo = vendor.payout.publicKey.toBase58();
  const facilitator = await startFacilitator(run, bench, { payTo, amountMicro: PRICE_MICRO });
  return {
    bench,
    load,
    facilitator,
    ourCalls: (count) => settleCalls(bench, load, { vendor, payers: ours, count }),
    theirCalls: (count) => facilitator.sign(theirs, count),
  };
};
