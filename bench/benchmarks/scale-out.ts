import { startFacilitator } from '../facilitator/facilitator.ts';
import { createBenchVendor, createPayers, PRICE_MICRO, settleCalls } from '../harness/actors.ts';
import { sampled, startLoad } from '../harness/load.ts';
import { templatePayment } from '../harness/rows.ts';
import { type Benchmark, part, type Run } from '../harness/run.ts';
import { noteDurability, startBenchStack } from '../harness/stack.ts';
import { percentile, type Sample, summary } from '../harness/statistics.ts';
import type { Outcome } from '../load/job.ts';

const PACE_MS = 400;
const REPLICAS = [1, 4];
const PAYERS = 32;
/** Concurrency per replica, so low that no call waits for the processor. */
const EACH = 16;

type Burst = {
  perSecond: number;
  p50: number;
  /** From the begin of the burst to the last 200. */
  lastMs: number;
  /** Answers other than 200: not confirmed in 15 s, or refused. */
  unpaid: number;
};
type Figures = {
  loneMs: number;
  paced: Sample;
  burst: Burst;
  /** The same burst of payments at the reference facilitator. */
  theirs: Burst;
};

/**
 * At the pace of the real chain a settle mostly waits. A burst of --in-flight simultaneous settles
 * shows how long the last one waits, here and at the reference facilitator. A concurrency in
 * proportion to the replicas shows whether each replica adds its share of throughput.
 */
export const scaleOut: Benchmark = {
  about: '1 and 4 replicas on a 400 ms chain; --in-flight settles at once (2000), against the facilitator',
  run: async (run) => {
    const measured: Record<number, Figures[]> = Object.fromEntries(REPLICAS.map((count) => [count, []]));
    // The replica counts are measured in turns, as sides are elsewhere. Each turn has its own
    // stack.
    for (let round = 0; round < run.options.rounds; round += 1) {
      for (const replicas of round % 2 === 0 ? REPLICAS : REPLICAS.toReversed()) {
        measured[replicas]!.push(await part(run, (own) => measure(own, round, replicas)));
      }
    }
    show(run, measured);
  },
};

const measure = async (run: Run, round: number, replicas: number): Promise<Figures> => {
  const { report, options } = run;
  const bench = await startBenchStack(run, `${replicas}-replicas-${round}`, {
    chainSlotMs: PACE_MS,
    instances: { settlement: replicas, 'chain-submitter': replicas },
  });
  if (round === 0 && replicas === 1) await noteDurability(bench, run);
  const load = await startLoad();
  run.defer(load.stop);
  const vendor = await createBenchVendor(bench);
  const payers = await createPayers(bench, PAYERS);
  const theirPayers = await createPayers(bench, PAYERS);
  await templatePayment(bench, vendor, payers[0]!);
  const payTo = vendor.payout.publicKey.toBase58();
  const facilitator = await startFacilitator(run, bench, { payTo, amountMicro: PRICE_MICRO });
  const origin = bench.stack.gateway_url;
  const settles = async (what: string, count: number, job: { concurrency: number; seconds?: number }) => {
    const calls = await settleCalls(bench, load, { vendor, payers, count });
    report.progress(`round ${round + 1}, replicas ${replicas}: ${what}`);
    return bench.profiled(() => load.run({ kind: 'calls', origin, calls, counted: 200, ...job }));
  };
  await settles('warming up', 10 * PAYERS, { concurrency: PAYERS });
  const lone = sampled(await settles('one at a time', 10, { concurrency: 1 }));
  const concurrency = EACH * replicas;
  const enough = concurrency * options.seconds * 4;
  const paced = sampled(await settles('in proportion', enough, { concurrency, seconds: options.seconds }));

  const { inFlight } = options;
  const burst = async (side: 'ours' | 'theirs', count: number): Promise<Burst> => {
    const calls =
      side === 'ours'
        ? await settleCalls(bench, load, { vendor, payers, count })
        : await facilitator.sign(theirPayers, count);
    report.progress(`round ${round + 1}, replicas ${replicas}: ${side}, ${count} at once`);
    const target = side === 'ours' ? origin : facilitator.origin;
    const work = () =>
      load.run({ kind: 'calls', origin: target, calls, counted: 200, concurrency: count }, { mayFail: true });
    const outcome = await (side === 'ours' ? bench.profiled(work) : work());
    if (outcome.firstFailure !== undefined)
      report.note(`replicas ${replicas}, ${side}: ${outcome.firstFailure}`);
    return burstOf(outcome, count);
  };
  // Ours is warm by now.
  await burst('theirs', 10 * PAYERS);
  const order = round % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const);
  const bursts: Partial<Record<'ours' | 'theirs', Burst>> = {};
  for (const side of order) bursts[side] = await burst(side, inFlight);
  return { loneMs: lone.p50, paced, burst: bursts.ours!, theirs: bursts.theirs! };
};

const burstOf = ({ times: { call: times = [] }, elapsedMs }: Outcome, count: number): Burst => ({
  perSecond: (times.length * 1000) / elapsedMs,
  p50: percentile(times, 0.5),
  // All calls begin at once.
  lastMs: percentile(times, 1),
  unpaid: count - times.length,
});

/** NaN, which reaches no target, if a call was not answered with 200: its duration is no result. */
const lastOf = ({ burst }: Figures): number => (burst.unpaid === 0 ? burst.lastMs : Number.NaN);

const show = ({ report, options }: Run, measured: Record<number, Figures[]>): void => {
  const median = (replicas: number, of: (figures: Figures, round: number) => number) =>
    summary(measured[replicas]!.map(of)).median;
  const { inFlight } = options;
  report.table(
    `medians of ${options.rounds} rounds`,
    [
      'replicas of settlement and chain-submitter',
      'single settle p50 ms',
      `${EACH} each: per second`,
      'p50 ms',
    ],
    REPLICAS.map((replicas) => [
      String(replicas),
      median(replicas, ({ loneMs }) => loneMs),
      median(replicas, ({ paced }) => paced.perSecond),
      median(replicas, ({ paced }) => paced.p50),
    ]),
  );
  report.table(
    `${inFlight} at once, ${options.rounds} rounds`,
    ['', 'per second median', 'p50 ms median', 'last ms min', 'median', 'max', 'not paid, most'],
    REPLICAS.flatMap((replicas) =>
      (['burst', 'theirs'] as const).map((side) => {
        const last = summary(measured[replicas]!.map((figures) => figures[side].lastMs));
        return [
          side === 'burst' ? `ours, ${replicas} replicas` : `facilitator, beside ${replicas} replicas`,
          median(replicas, (figures) => figures[side].perSecond),
          median(replicas, (figures) => figures[side].p50),
          last.min,
          last.median,
          last.max,
          summary(measured[replicas]!.map((figures) => figures[side].unpaid)).max,
        ];
      }),
    ),
  );
  report.data('rounds', measured);
  for (const replicas of REPLICAS)
    report.target({
      what: `${inFlight} at once, replicas ${replicas}: time of the last 200, share of the facilitator’s`,
      value: median(replicas, (figures) => lastOf(figures) / figures.theirs.lastMs),
      atMost: 1,
    });
  const [one, most] = [Math.min(...REPLICAS), Math.max(...REPLICAS)];
  report.target({
    what: `${inFlight} at once: time of the last 200 of ${most} replicas, share of one replica’s`,
    value: median(most, (figures, round) => lastOf(figures) / lastOf(measured[one]![round]!)),
    atMost: 1,
  });
  report.target({
    what: `${EACH} each: throughput of ${most} replicas, share of ${most} times one replica’s`,
    value:
      median(most, ({ paced }) => paced.perSecond) / (most * median(one, ({ paced }) => paced.perSecond)),
    atLeast: 0.8,
  });
};
