import { writeSync } from 'node:fs';

type Totals = { passed: number; failed: number };

type WithTotals = typeof globalThis & { testTotals?: Totals };

/**
 * Makes `N passed, N failed` the last line of a test run, whatever else is printed. Each module
 * that may run first calls it: jest starts no reporter when a set-up fails, and then the run counts
 * as one failure.
 */
export function totals(): Totals {
  const shared = globalThis as WithTotals;
  if (!shared.testTotals) {
    const created: Totals = { passed: 0, failed: 1 };
    shared.testTotals = created;
    process.on('exit', (code) => {
      // Jest may fail for a reason that no test shows, such as a coverage threshold.
      const failed = code !== 0 && created.failed === 0 ? 1 : created.failed;
      writeSync(1, `${created.passed} passed, ${failed} failed\n`);
    });
  }
  return shared.testTotals;
}
