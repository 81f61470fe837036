import { createBenchVendor, createPayers, settleCalls } from '../harness/actors.ts';
import { sampled, startLoad } from '../harness/load.ts';
import { templatePayment } from '../harness/rows.ts';
import { type Benchmark, part, type Run } from '../harness/run.ts';
import { noteDurability, startBenchStack } from '../harness/stack.ts';
import { type Sample, summary } from '../harness/statistics.ts';

const PACE_MS = 400;
const REPLICAS = [1, 2, 4];
const PAYERS = 32;
/** Concurrency per replica, so low that no call waits for the processor. */
const EACH = 16;

type Figures = {
  loneMs: number;
  paced: Sample;
  burst: Sample;
  /** From the first call to the last answer. */
  lastMs: number;
  /** Answers of the burst other than 200: not confirmed in 15 s, or refused. */
  others: Record<number, number>;
};

/**
 * At the pace of the real chain a settle mostly waits. A burst of --in-flight simultaneous settles
 * shows how long the last one waits. A concurrency in proportion to the replicas shows whether each
 * replica adds its share of throughput.
 */
export const scaleOut: Benchmark = {
  about: 'settles per second with 1, 2 and 4 replicas on a 400 ms chain; --in-flight settles at once (2000)',
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
  await templatePayment(bench, vendor, payers[0]!);
  const origin = bench.stack.gateway_url;
  const settles = async (
    what: string,
    count: number,
    { mayFail = false, ...job }: { concurrency: number; seconds?: number; mayFail?: boolean },
  ) => {
    const calls = await settleCalls(bench, load, { vendor, payers, count });
    report.progress(`round ${round + 1}, replicas ${replicas}: ${what}`);
    return bench.profiled(() =>
      load.run({ kind: 'calls', origin, calls, counted: 200, ...job }, { mayFail }),
    );
  };
  await settles('warming up', 10 * PAYERS, { concurrency: PAYERS });
  const lone = sampled(await settles('one at a time', 10, { concurrency: 1 }));
  const concurrency = EACH * replicas;
  const enough = concurrency * options.seconds * 4;
  const paced = sampled(await settles('in proportion', enough, { concurrency, seconds: options.seconds }));
  const burst = await settles('all at once', options.inFlight, {
    concurrency: options.inFlight,
    mayFail: true,
  });
  if (burst.firstFailure !== undefined) report.note(`replicas ${replicas}: ${burst.firstFailure}`);
  const { 200: _paid, ...others } = burst.statuses;
  return { loneMs: lone.p50, paced, burst: sampled(burst), lastMs: burst.elapsedMs, others };
};

/**
 * NaN, which reaches no target, if a call was not answered with 200, because its duration is then
 * no result.
 */
const ifAllPaid = ({ others }: Figures, value: number): number =>
  Object.keys(others).length === 0 ? value : Number.NaN;

const show = ({ report, options }: Run, measured: Record<number, Figures[]>): void => {
  const median = (replicas: number, of: (figures: Figures) => number) =>
    summary(measured[replicas]!.map(of)).median;
  const { inFlight } = options;
  report.table(
    `medians of ${options.rounds} rounds`,
    [
      'replicas of settlement and chain-submitter',
      'single settle p50 ms',
      `${EACH} each: per second`,
      'p50 ms',
      `${inFlight} at once: per second`,
      'p50 ms',
      'last ms',
      'not paid',
    ],
    REPLICAS.map((replicas) => [
      String(replicas),
      median(replicas, ({ loneMs }) => loneMs),
      median(replicas, ({ paced }) => paced.perSecond),
      median(replicas, ({ paced }) => paced.p50),
      median(replicas, ({ burst }) => burst.perSecond),
      median(replicas, ({ burst }) => burst.p50),
      median(replicas, ({ lastMs }) => lastMs),
      median(replicas, ({ others }) => Object.values(others).reduce((sum, count) => sum + count, 0)),
    ]),
  );
  report.data('rounds', measured);
  const most = Math.max(...REPLICAS);
  const linear = (of: (figures: Figures) => number) => median(most, of) / (most * median(1, of));
  report.target({
    what: `${inFlight} at once, ${most} replicas: seconds until the last answer, beyond the time of a single settle`,
    value: median(most, (figures) => ifAllPaid(figures, (figures.lastMs - figures.loneMs) / 1000)),
    atMost: 3,
  });
  report.target({
    what: `${EACH} each: throughput of ${most} replicas, share of ${most} times one replica’s`,
    value: linear(({ paced }) => paced.perSecond),
    atLeast: 0.8,
  });
  report.target({
    what: `${inFlight} at once: throughput of ${most} replicas, share of ${most} times one replica’s`,
    value: linear((figures) => ifAllPaid(figures, figures.burst.perSecond)),
    atLeast: 0.8,
  });
};
