import { writeSync } from 'node:fs';

type Totals = { passed: number; failed: number };

type WithTotals = typeof globalThis & { testTotals?: Totals };

/**
 * `N passed, N failed`, with a check that ran before and counts as one.
 * @param earlier `passed`, `failed`, `skipped`, or undefined without such a check; anything else is
 *   a check that ended without a result
 */
export const lastLine = ({ passed, failed }: Totals, earlier: string | undefined): string => {
  const counts = earlier !== undefined && earlier !== 'skipped';
  const isPassed = counts && earlier === 'passed';
  return `${passed + Number(isPassed)} passed, ${failed + Number(counts && !isPassed)} failed`;
};

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
    const earlier = process.env.EARLIER_RESULT;
    // A run of jest inside a test counts only its own tests.
    delete process.env.EARLIER_RESULT;
    process.on('exit', (code) => {
      // Jest may fail for a reason that no test shows, such as a coverage threshold.
      const failed = code !== 0 && created.failed === 0 ? 1 : created.failed;
      writeSync(1, `${lastLine({ passed: created.passed, failed }, earlier)}\n`);
    });
  }
  return shared.testTotals;
}
