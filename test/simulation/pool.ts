import os from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Outcome } from './simulate.ts';
import type { Rule } from './harness.ts';

export type Task = { seed: number; off: Rule | null; traced: boolean };

/** One for each core. */
export const WORKERS = os.availableParallelism();

/**
 * Runs seeds on threads of their own, each with the next seed as soon as it is free.
 * @param onOutcome hears of each seed, in the order in which they end; false: no new seed is begun
 */
export const runSeeds = async (
  { first, count }: { first: number; count: number },
  {
    workers = WORKERS,
    off = null,
    traced = false,
    onOutcome,
  }: Partial<Omit<Task, 'seed'>> & { workers?: number; onOutcome: (outcome: Outcome) => boolean },
): Promise<void> => {
  let next = first;
  let wanted = true;
  const runWorker = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL('worker.ts', import.meta.url));
      const giveNext = () => {
        if (!wanted || next >= first + count) void worker.terminate().then(() => resolve(), reject);
        else worker.postMessage({ seed: next++, off, traced } satisfies Task);
      };
      worker.on('error', reject);
      worker.on('message', (outcome: Outcome) => {
        wanted = onOutcome(outcome) && wanted;
        giveNext();
      });
      giveNext();
    });
  await Promise.all(Array.from({ length: Math.min(workers, count) }, runWorker));
};
