import { parentPort } from 'node:worker_threads';
import type { Task } from './pool.ts';
import { simulate } from './simulate.ts';

/** A thread that runs the seeds that it gets, one at a time. */
parentPort!.on('message', ({ seed, ...options }: Task) => {
  void simulate(seed, options).then((outcome) => parentPort!.postMessage(outcome));
});
