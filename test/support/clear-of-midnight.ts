import { beforeAll } from '@jest/globals';
import { clearOfEnd } from './clear-of-end.ts';

/** How long the slowest suite takes on a busy machine. */
const SUITE_MS = 120_000;

// Limits, budgets and tables count by the UTC day. A suite that crosses midnight would find its
// amounts in two days, so it begins after midnight when midnight is near.
beforeAll(() => clearOfEnd('day', SUITE_MS), SUITE_MS + 10_000);
