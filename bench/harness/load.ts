import type { Job, Outcome, Step } from '../load/job.ts';
import { startChild } from './child.ts';
import { type Sample, sampleOf } from './statistics.ts';

export type Load = {
  pid: number;
  /** Makes the calls of a job in the load process. @throws if a call fails, unless `mayFail` */
  run: (job: Job, options?: { mayFail?: boolean }) => Promise<Outcome>;
  stop: () => Promise<void>;
};

/** The load process, one for all sides, so that the same client calls each side. */
export const startLoad = async (): Promise<Load> => {
  const child = await startChild(new URL('../load/main.ts', import.meta.url));
  return {
    pid: child.pid,
    stop: child.stop,
    run: async (job, { mayFail = false } = {}) => {
      const outcome = await child.ask<Outcome>(job);
      // A refused call is answered fast, so refused calls would make a figure look better than it
      // is.
      if (outcome.firstFailure !== undefined && !mayFail) throw new Error(outcome.firstFailure);
      return outcome;
    },
  };
};

/** The figures of one step of a job. */
export const sampled = ({ times, elapsedMs }: Outcome, step: Step = 'call'): Sample =>
  sampleOf(times[step] ?? [], elapsedMs);
