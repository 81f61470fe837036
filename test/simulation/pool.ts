import os from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Rule } from './harness.ts';
import type { Outcome } from './simulate.ts';

export type Task = { seed: number; off: Rule | null; traced: boolean };

/** One for each core. */
export const WORKERS = os.availableParallelism();

/**
 * Threads that run seeds, one each at a time. Loading the code costs a thread more than a hundred
 * seeds, so a caller that runs several series reuses the pool.
 */
export const createPool = (size = WORKERS) => {
  const workers = Array.from({ length: size }, () => new Worker(new URL('worker.ts', import.meta.url)));
  const run = (worker: Worker, task: Task): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      const done = () => {
        worker.off('error', failed);
        worker.off('message', answered);
      };
      const failed = (error: Error) => {
        done();
        reject(error);
      };
      const answered = (outcome: Outcome) => {
        done();
        resolve(outcome);
      };
      worker.on('error', failed);
      worker.on('message', answered);
      worker.postMessage(task);
    });

  return {
    /**
     * Runs seeds. Each thread takes the next one when it is free.
     * @param onOutcome is called with each outcome in the order in which the runs end; false: no
     * further seed begins
     */
    runSeeds: async (
      { first, count }: { first: number; count: number },
      {
        off = null,
        traced = false,
        onOutcome,
      }: Partial<Omit<Task, 'seed'>> & { onOutcome: (outcome: Outcome) => boolean },
    ): Promise<void> => {
      let next = first;
      let wanted = true;
      const runNext = async (worker: Worker) => {
        while (wanted && next < first + count) {
          const outcome = await run(worker, { seed: next++, off, traced });
          wanted = onOutcome(outcome) && wanted;
        }
      };
      await Promise.all(workers.slice(0, count).map(runNext));
    },
    close: async (): Promise<void> => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
};
export type Pool = ReturnType<typeof createPool>;
