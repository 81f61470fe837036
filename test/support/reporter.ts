import path from 'node:path';
import { totals } from './last-line.ts';

type Suite = { path: string };
type SuiteResult = {
  perfStats: { start: number; end: number };
  numPassingTests: number;
  numFailingTests: number;
  failureMessage?: string | null;
  testExecError?: unknown;
  console?: { type: string; message: string; origin: string }[] | null;
};
type RunResult = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numRuntimeErrorTestSuites: number;
  numTotalTestSuites: number;
  startTime: number;
};

/** Prints the seconds of each suite and what failed. `totals` prints the last line of the run. */
export default class SecondsReporter {
  private readonly totals = totals();

  onTestResult(suite: Suite, result: SuiteResult): void {
    const failed = result.numFailingTests > 0 || Boolean(result.failureMessage);
    const seconds = ((result.perfStats.end - result.perfStats.start) / 1000).toFixed(1).padStart(5);
    const count = result.numPassingTests + result.numFailingTests;
    const name = path.relative(process.cwd(), suite.path);
    console.log(`${failed ? 'FAIL' : 'PASS'} ${seconds} s  ${name} (${count})`);
    for (const { type, message } of result.console ?? []) console.log(`  console.${type}: ${message}`);
    if (result.failureMessage) console.log(`\n${result.failureMessage}`);
  }

  onRunComplete(_contexts: unknown, run: RunResult): void {
    this.totals.passed = run.numPassedTests;
    // A suite that could not be loaded has no failed tests.
    this.totals.failed = run.numFailedTests + run.numRuntimeErrorTestSuites;
    const seconds = ((Date.now() - run.startTime) / 1000).toFixed(1);
    const left = run.numPendingTests + run.numTodoTests;
    console.log(`\n${run.numTotalTestSuites} suites in ${seconds} s${left ? `, ${left} tests skipped` : ''}`);
  }
}
