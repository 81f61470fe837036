import { stateMachine } from '../../../../shared/state-machine.ts';

/**
 * When a transaction in flight is polled next: at a time in milliseconds of the process's monotonic
 * clock, or not while something is being written of it. The write names the time of the next poll
 * when it ends.
 */
export type Schedule = { state: 'due'; at: number } | { state: 'writing' };

/**
 * `plan`: another time; `write`: a write begins; `end`: it ended or failed. A write that has begun
 * is not disturbed: no other begins, and nothing but its end makes the transaction due.
 */
export const schedules = stateMachine<Schedule['state'], 'plan' | 'write' | 'end'>({
  due: { plan: 'due', write: 'writing' },
  writing: { end: 'due' },
});
