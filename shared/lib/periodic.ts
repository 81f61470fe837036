import { ServiceError } from '../contract/errors.ts';
import { currentPauseMs, noteActivity, rest } from './activity.ts';
import type { Logger } from './telemetry/logger.ts';
import { count } from './telemetry/metrics.ts';
import { untraced } from './telemetry/trace.ts';

export type Periodic = { stop: () => Promise<void> };

/**
 * Runs a job repeatedly with a pause between runs, which is longer while the process is quiet
 * (activity.ts). A failed run is logged, and the next one follows. Any number of replicas may run
 * it if the statement of the job allows that (SKIP LOCKED, conditional update).
 * @param pauseMs while the process is active
 * @param job gets the longest pause until its next run, and resolves with true if it has found work
 *   or waits for some, which counts as activity
 */
export const everyMs = (
  pauseMs: number,
  name: string,
  job: (nextWithinMs: number) => Promise<unknown>,
  logger: Logger,
): Periodic => {
  const stopped = new AbortController();
  count('quittance_job_runs_total', 0, { task: name, outcome: 'error' });
  // A start finds what a crash has left.
  noteActivity();
  const loop = async () => {
    while (!stopped.signal.aborted) {
      const restMs = currentPauseMs(pauseMs);
      await untraced(() => job(restMs)).then(
        (found) => {
          if (found === true) noteActivity();
          count('quittance_job_runs_total', 1, { task: name, outcome: 'ok' });
        },
        (error: unknown) => {
          // It is tried again at the pace of an active process.
          noteActivity();
          count('quittance_job_runs_total', 1, { task: name, outcome: 'error' });
          // A service that is not there yet, or no more, is not a fault of this one.
          const isElsewhere = error instanceof ServiceError && error.code === 'service_unavailable';
          logger[isElsewhere ? 'warn' : 'error']({ err: error, job: name }, 'job failed');
        },
      );
      await rest(Math.min(restMs, currentPauseMs(pauseMs)), { pauseMs, signal: stopped.signal });
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
};
