import os from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Rule } from './harness.ts';
import type { Outcome } from './simulate.ts';

export type Task = { seed: number; off: Rule | null; traced: boolean; sql: boolean };

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

  /**
   * Runs tasks. Each thread takes the next one when it is free.
   * @param onOutcome is called with each outcome in the order in which the runs end; false: no
   * further task begins
   */
  const runTasks = async (
    tasks: Iterable<Task>,
    onOutcome: (outcome: Outcome, task: Task) => boolean,
  ): Promise<void> => {
    const left = tasks[Symbol.iterator]();
    let wanted = true;
    const runNext = async (worker: Worker) => {
      for (let next = left.next(); !next.done; next = left.next()) {
        wanted = onOutcome(await run(worker, next.value), next.value) && wanted;
        if (!wanted) return;
      }
    };
    await Promise.all(workers.map(runNext));
  };

  return {
    runTasks,
    /** Runs the seeds from `first` with the same options. */
    runSeeds: (
      { first, count }: { first: number; count: number },
      {
        off = null,
        traced = false,
        sql = false,
        onOutcome,
      }: Partial<Omit<Task, 'seed'>> & { onOutcome: (outcome: Outcome) => boolean },
    ): Promise<void> => {
      const seeds = function* () {
        for (let seed = first; seed < first + count; seed++) yield { seed, off, traced, sql };
      };
      return runTasks(seeds(), onOutcome);
    },
    close: async (): Promise<void> => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
};
export type Pool = ReturnType<typeof createPool>;
