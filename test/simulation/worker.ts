import { parentPort } from 'node:worker_threads';
import { simulateCells } from './cells.ts';
import type { Task } from './pool.ts';
import { simulate } from './simulate.ts';

/** A thread that runs the seeds that it gets, one at a time. */
parentPort!.on('message', ({ seed, cells, ...options }: Task) => {
  const run = cells > 1 ? simulateCells(seed, { ...options, cells }) : simulate(seed, options);
  void run.then((outcome) => parentPort!.postMessage(outcome));
});
