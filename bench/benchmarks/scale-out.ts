import { startFacilitator } from '../facilitator/facilitator.ts';
import { createPayers, PRICE_MICRO, settleCalls } from '../harness/actors.ts';
import { type Cpu, measured as measuredCpu, showCpu } from '../harness/cpu.ts';
import { sampled } from '../harness/load.ts';
import { startPayingStack } from '../harness/paying-stack.ts';
import { type Benchmark, part, type Run } from '../harness/run.ts';
import { noteDurability } from '../harness/stack.ts';
import { percentile, type Sample, summary } from '../harness/statistics.ts';
import type { Outcome } from '../load/job.ts';

const PACE_MS = 400;
const REPLICAS = [1, 4];
const PAYERS = 32;
/** Concurrency per replica, so low that no call waits for the processor. */
const EACH = 16;
/** Concurrency, whatever the number of replicas, where their CPU is compared. */
const IN_ALL = 64;

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
  ours: Burst;
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
    const cpu: Cpu = {};
    // The replica counts are measured in turns, as sides are elsewhere. Each turn has its own
    // stack.
    for (let round = 0; round < run.options.rounds; round += 1) {
      for (const replicas of round % 2 === 0 ? REPLICAS : REPLICAS.toReversed()) {
        measured[replicas]!.push(await part(run, (own) => measure(own, { round, replicas, cpu })));
      }
    }
    show(run, measured);
    showCpu(run, `${IN_ALL} in all: CPU ms per settle`, cpu, { warmUps: 0 });
  },
};

const measure = async (
  run: Run,
  { round, replicas, cpu }: { round: number; replicas: number; cpu: Cpu },
): Promise<Figures> => {
  const { report, options } = run;
  const { bench, load, vendor, payers } = await startPayingStack(run, `${replicas}-replicas-${round}`, {
    chainSlotMs: PACE_MS,
    instances: { settlement: replicas, 'chain-submitter': replicas },
    payerCount: PAYERS,
  });
  if (round === 0 && replicas === 1) await noteDurability(bench, run);
  const theirPayers = await createPayers(bench, PAYERS);
  const payTo = vendor.payout.publicKey.toBase58();
  const facilitator = await startFacilitator(run, bench, { payTo, amountMicro: PRICE_MICRO });
  const sides = {
    ours: {
      origin: bench.stack.gateway_url,
      prepare: (count: number) => settleCalls(bench, load, { vendor, payers, count }),
      measured: bench.profiled,
    },
    theirs: {
      origin: facilitator.origin,
      prepare: (count: number) => facilitator.sign(theirPayers, count),
      measured: (work: () => Promise<Outcome>) => work(),
    },
  };
  const settles = async (what: string, count: number, job: { concurrency: number; seconds?: number }) => {
    const { origin, prepare, measured } = sides.ours;
    const calls = await prepare(count);
    report.progress(`round ${round + 1}, replicas ${replicas}: ${what}`);
    return measured(() => load.run({ kind: 'calls', origin, calls, counted: 200, ...job }));
  };
  await settles('warming up', 10 * PAYERS, { concurrency: PAYERS });
  const lone = sampled(await settles('one at a time', 10, { concurrency: 1 }));
  const concurrency = EACH * replicas;
  const enough = concurrency * options.seconds * 4;
  const paced = sampled(await settles('in proportion', enough, { concurrency, seconds: options.seconds }));

  const { origin } = sides.ours;
  const calls = await sides.ours.prepare(IN_ALL * options.seconds * 4);
  report.progress(`round ${round + 1}, replicas ${replicas}: ${IN_ALL} in all`);
  const inAll = { calls, counted: 200, concurrency: IN_ALL, seconds: options.seconds };
  await measuredCpu(bench.pids, cpu, `replicas ${replicas}`, async () =>
    sampled(await load.run({ kind: 'calls', origin, ...inAll })),
  );

  const { inFlight } = options;
  const burst = async (side: keyof typeof sides, count: number): Promise<Burst> => {
    const { origin, prepare, measured } = sides[side];
    const calls = await prepare(count);
    report.progress(`round ${round + 1}, replicas ${replicas}: ${side}, ${count} at once`);
    const job = { kind: 'calls' as const, origin, calls, counted: 200, concurrency: count };
    const outcome = await measured(() => load.run(job, { mayFail: true }));
    if (outcome.firstFailure !== undefined)
      report.note(`replicas ${replicas}, ${side}: ${outcome.firstFailure}`);
    return burstOf(outcome, count);
  };
  // Ours is warm by now.
  await burst('theirs', 10 * PAYERS);
  const early = round % 2 === 0 ? await burst('ours', inFlight) : null;
  const theirs = await burst('theirs', inFlight);
  const ours = early ?? (await burst('ours', inFlight));
  return { loneMs: lone.p50, paced, ours, theirs };
};

const burstOf = ({ times: { call: times = [] }, elapsedMs }: Outcome, count: number): Burst => ({
  perSecond: (times.length * 1000) / elapsedMs,
  p50: percentile(times, 0.5),
  // All calls begin at once.
  lastMs: percentile(times, 1),
  unpaid: count - times.length,
});

/** NaN, which reaches no target, if a call was not answered with 200: its duration is no result. */
const lastOf = ({ ours }: Figures): number => (ours.unpaid === 0 ? ours.lastMs : Number.NaN);

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
      (['ours', 'theirs'] as const).map((side) => {
        const last = summary(measured[replicas]!.map((figures) => figures[side].lastMs));
        return [
          side === 'ours' ? `ours, ${replicas} replicas` : `facilitator, beside ${replicas} replicas`,
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
