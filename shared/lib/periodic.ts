import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from './logger.ts';
import { count } from './metrics.ts';
import { untraced } from './trace.ts';

export type Periodic = { stop: () => Promise<void> };

/**
 * Runs a job repeatedly with a pause between runs. A failed run is logged, and the next one
 * follows. Any number of replicas may run it if the statement of the job allows that (SKIP LOCKED,
 * conditional update).
 */
export const everyMs = (
  pauseMs: number,
  name: string,
  job: () => Promise<unknown>,
  logger: Logger,
): Periodic => {
  const stopped = new AbortController();
  count('quittance_job_runs_total', 0, { task: name, outcome: 'error' });
  const loop = async () => {
    while (!stopped.signal.aborted) {
      await untraced(job).then(
        () => count('quittance_job_runs_total', 1, { task: name, outcome: 'ok' }),
        (error: unknown) => {
          count('quittance_job_runs_total', 1, { task: name, outcome: 'error' });
          logger.error({ err: error, job: name }, 'job failed');
        },
      );
      await sleep(pauseMs, undefined, { signal: stopped.signal }).catch(() => {});
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
