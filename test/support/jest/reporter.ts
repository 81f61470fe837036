import path from 'node:path';
import { countedLines } from '../rules/counted-lines.ts';
import { budgetOf } from './budgets.ts';
import { totals } from './last-line.ts';

type Suite = { path: string };
type SuiteResult = {
  perfStats: { start: number; end: number };
  /** From runner.js; undefined if the suite could not be loaded. */
  cpuSeconds?: number;
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

const DEAREST = 10;

/** Prints the seconds and the CPU of each suite, and what failed. `totals` prints the last line. */
export default class SecondsReporter {
  private readonly totals = totals();
  private readonly suites: { name: string; cpu: number; wall: number }[] = [];

  onTestResult(suite: Suite, result: SuiteResult): void {
    const failed = result.numFailingTests > 0 || Boolean(result.failureMessage);
    const wall = (result.perfStats.end - result.perfStats.start) / 1000;
    const cpu = result.cpuSeconds ?? 0;
    const count = result.numPassingTests + result.numFailingTests;
    const name = path.relative(process.cwd(), suite.path);
    this.suites.push({ name, cpu, wall });
    console.log(`${failed ? 'FAIL' : 'PASS'} ${figures(cpu, wall)}  ${name} (${count})`);
    const printed = (result.console ?? []).map(({ type, message }) => `  console.${type}: ${message}`);
    for (const line of countedLines(printed)) console.log(line);
    if (result.failureMessage) console.log(`\n${result.failureMessage}`);
  }

  onRunComplete(_contexts: unknown, run: RunResult): void {
    this.totals.passed = run.numPassedTests;
    // A suite that could not be loaded has no failed tests.
    this.totals.failed = run.numFailedTests + run.numRuntimeErrorTestSuites;
    this.printDearest();
    this.printAboveBudget();
    const seconds = ((Date.now() - run.startTime) / 1000).toFixed(1);
    const left = run.numPendingTests + run.numTodoTests;
    console.log(`\n${run.numTotalTestSuites} suites in ${seconds} s${left ? `, ${left} tests skipped` : ''}`);
  }

  private printDearest(): void {
    const dearest = this.suites.toSorted((a, b) => b.cpu - a.cpu).slice(0, DEAREST);
    if (this.suites.length > DEAREST) console.log(`\nThe ${DEAREST} dearest suites (CPU, wall):`);
    else return;
    for (const { name, cpu, wall } of dearest) console.log(`  ${figures(cpu, wall)}  ${name}`);
  }

  private printAboveBudget(): void {
    const above = this.suites.filter(({ name, cpu }) => cpu > budgetOf(name).seconds);
    if (above.length > 0) console.log('\nAbove their CPU budget (test/support/jest/budgets.ts):');
    for (const { name, cpu } of above) {
      const { seconds, why } = budgetOf(name);
      console.log(`  ${cpu.toFixed(1)} s of ${seconds} s  ${name} (${why})`);
    }
  }
}

/** `  1.2 s CPU   3.4 s` */
const figures = (cpu: number, wall: number): string =>
  `${cpu.toFixed(1).padStart(5)} s CPU ${wall.toFixed(1).padStart(6)} s`;
