import type { Facilitator } from '../facilitator/facilitator.ts';
import { type Load, sampled } from '../harness/load.ts';
import { compare, type Ratio, type Side } from '../harness/rounds.ts';
import type { Run } from '../harness/run.ts';
import type { BenchStack } from '../harness/stack.ts';
import type { Call } from '../load/job.ts';

/** Our settles and those of the reference facilitator, on one chain. */
export type SettleSides = {
  bench: BenchStack;
  load: Load;
  facilitator: Facilitator;
  ourCalls: (count: number) => Promise<Call[]>;
  theirCalls: (count: number) => Promise<Call[]>;
  /** The text of an answer that counts, on both sides. Absent: every answer with 200. */
  countedText?: string;
};

/** `restUpToMs`: the longest pause before a call. */
type Pressure = { title: string; concurrency: number; restUpToMs?: number };

/** With many connections a round is longer, so that each of them makes several calls. */
const CONNECTIONS_PER_SECOND = 100;
/** The most calls per second that the warm-up of a side prepares. */
const FIRST_RATE = 400;

/** Measures both sides in turns. @returns ours as a share of the facilitator’s */
export const compareSettles = async (run: Run, sides: SettleSides, pressure: Pressure): Promise<Ratio> => {
  const { bench, load, facilitator, countedText = '' } = sides;
  const { title, concurrency, restUpToMs = 0 } = pressure;
  const sideOf = (name: string, origin: string, prepare: (count: number) => Promise<Call[]>): Side => {
    /** The rate of the previous round. The first round, the warm-up, starts with an estimate. */
    let perSecond = Math.min(10 * concurrency, FIRST_RATE);
    return {
      name,
      round: async (asked) => {
        const seconds = Math.max(asked, Math.ceil(concurrency / CONNECTIONS_PER_SECOND));
        // 50 % more than the last round's rate needs, and never so many that they expire while they
        // are being signed.
        const calls = await prepare(Math.min(20_000, Math.ceil(perSecond * seconds * 1.5) + concurrency));
        const work = () =>
          load.run(
            {
              kind: 'calls',
              origin,
              calls,
              concurrency,
              seconds,
              restUpToMs,
              counted: 200,
              countedText,
            },
            // The facilitator gives up a payment after 30 s, which many open calls can cause.
            { mayFail: name !== 'ours' },
          );
        const outcome = await (name === 'ours' ? bench.profiled(work) : work());
        const unfinished = outcome.statuses[202];
        if (unfinished)
          run.report.note(`${title}: ${unfinished} settles were answered 202 and are not counted`);
        if (outcome.firstFailure !== undefined) {
          const failed = Object.entries(outcome.statuses).filter(([status]) => !/^20[02]$/.test(status));
          const sum = failed.reduce((all, [, each]) => all + each, 0);
          run.report.note(
            `${title}: ${sum} calls of ${name} failed and are not counted, the first: ${outcome.firstFailure}`,
          );
        }
        const { count, first } = outcome.others;
        if (count > 0) run.report.note(`${title}: ${count} other answers of ${name}, the first: ${first}`);
        const sample = sampled(outcome);
        perSecond = sample.perSecond;
        return sample;
      },
    };
  };
  const { facilitator: ratio } = await compare(run, title, [
    sideOf('ours', bench.stack.gateway_url, sides.ourCalls),
    sideOf('facilitator', facilitator.origin, sides.theirCalls),
  ]);
  return ratio!;
};
