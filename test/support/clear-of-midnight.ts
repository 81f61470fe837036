import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll } from '@jest/globals';

/** How long the slowest suite takes on a busy machine. */
const SUITE_MS = 120_000;
const DAY_MS = 24 * 3600_000;

// Limits, budgets and tables count by the UTC day. A suite that crosses midnight would find its
// amounts in two days, so it begins after midnight when midnight is near.
beforeAll(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < SUITE_MS) await sleep(left + 1000);
}, SUITE_MS + 10_000);
