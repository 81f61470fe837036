import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll } from '@jest/globals';

/** What the slowest suite takes on a busy machine. */
const SUITE_MS = 120_000;
const DAY_MS = 24 * 3600_000;

// Limits, budgets and tables count by the UTC day: a suite that begins in one and ends in the next
// would find its money in two of them, so that it begins after the end of a day that is near.
beforeAll(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < SUITE_MS) await sleep(left + 1000);
}, SUITE_MS + 10_000);
