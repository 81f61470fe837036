// Loaded before everything else. The kernel gives process 1 of a container no default action for a
// signal. Without a handler a job, or a service that waits for its servers, would run until it is
// killed.
import { constants } from 'node:os';

/** @param {'SIGTERM' | 'SIGINT'} signal */
const end = (signal) => {
  // If there is another handler, it shuts down in order: `onShutdown` of a service that has
  // started.
  if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
};
process.on('SIGTERM', end);
process.on('SIGINT', end);
