import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { shiftDate } from './shifted-date.ts';

const DAY_MS = 86_400_000;

/**
 * Limits, budgets and tables count by the UTC day and hour. A suite with a database therefore
 * begins at this time of day, whenever it runs: its `Date`, that of the processes it starts
 * (`atSuiteClock`) and `app_now()` of its database. TEST_CLOCK is another time of day, for instance
 * `23:59:50`, to see that a suite may cross midnight.
 */
const { TEST_CLOCK: beginsAt = '10:00:00' } = process.env;

// The time has passed, so that nothing which the machine's clock has checked is of the future.
const sinceThen = (now: number): number => {
  const time = Date.parse(`1970-01-01T${beginsAt}Z`);
  if (Number.isNaN(time)) throw new Error(`TEST_CLOCK must be a time as 23:59:50: ${beginsAt}`);
  return (((now - time) % DAY_MS) + DAY_MS) % DAY_MS;
};

const shared = globalThis as typeof globalThis & { suiteClockOffsetMs?: number };
if (shared.suiteClockOffsetMs === undefined) {
  const offsetMs = -sinceThen(Date.now());
  shared.suiteClockOffsetMs = offsetMs;
  shiftDate(() => offsetMs);
}

/** How far the clock of this suite is from that of the machine. */
export const suiteClockOffsetMs: number = shared.suiteClockOffsetMs;

/** Arguments of node for a process with the clock of this suite. */
export const atSuiteClock: readonly string[] = [
  '--import',
  `${pathToFileURL(path.join(import.meta.dirname, 'shifted-process.ts')).href}?ms=${suiteClockOffsetMs}`,
];
