import { appendFileSync, writeSync } from 'node:fs';
import { cpuSeconds } from './cpu.ts';

type Counts = { passed: number; failed: number };

type WithTotals = typeof globalThis & { testTotals?: Counts };

/**
 * Adds the counts of a run to the file that TEST_COUNTS names, if it names one: a line `1 0` per
 * run, passed and failed. `.ci/run` prints their sum.
 */
export const addCounts = ({ passed, failed }: Counts): void => {
  if (process.env.TEST_COUNTS) appendFileSync(process.env.TEST_COUNTS, `${passed} ${failed}\n`);
};

/**
 * Makes `N passed, N failed` the last line of a test run, whatever else is printed. Each module
 * that may run first calls it: jest starts no reporter when a set-up fails, and then the run counts
 * as one failure.
 */
export function totals(): Counts {
  const shared = globalThis as WithTotals;
  if (!shared.testTotals) {
    const created: Counts = { passed: 0, failed: 1 };
    shared.testTotals = created;
    process.on('exit', (code) => {
      // Jest may fail for a reason that no test shows, such as a coverage threshold.
      const failed = code !== 0 && created.failed === 0 ? 1 : created.failed;
      const { passed } = created;
      addCounts({ passed, failed });
      // Writes that Node has not finished are lost at the end of a process.
      writeSync(
        1,
        `CPU of all processes: ${cpuSeconds().toFixed(0)} s\n${passed} passed, ${failed} failed\n`,
      );
    });
  }
  return shared.testTotals;
}
