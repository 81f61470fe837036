import path from 'node:path';

/** What jest writes with `--json`, as far as it is read here. */
export type JestRun = {
  testResults: readonly {
    name: string;
    status: string;
    startTime: number;
    endTime: number;
    message: string;
    assertionResults: readonly { status: string; fullName: string }[];
  }[];
};

/** One suite in all rounds. */
type SuiteRounds = {
  suite: string;
  rounds: number;
  failed: number;
  slowestSeconds: number;
  /** The first test that failed, and the log of its round. */
  first: { test: string; log: string } | null;
};

/** No result for any suite. */
export const nothingYet = (suites: readonly string[]): Map<string, SuiteRounds> =>
  new Map(
    suites.map((suite) => [suite, { suite, rounds: 0, failed: 0, slowestSeconds: 0, first: null }] as const),
  );

/**
 * Adds a round to the results of the suites.
 * @param run undefined if jest has written no result: then every suite has failed
 * @returns the suites that failed in this round
 */
export const addRound = (
  results: Map<string, SuiteRounds>,
  run: JestRun | undefined,
  { root, log }: { root: string; log: string },
): string[] => {
  const found = new Map(run?.testResults.map((each) => [path.relative(root, each.name), each]));
  const failures: string[] = [];
  for (const [suite, result] of results) {
    const ended = found.get(suite);
    result.rounds += 1;
    if (ended !== undefined) {
      const seconds = (ended.endTime - ended.startTime) / 1000;
      result.slowestSeconds = Math.max(result.slowestSeconds, seconds);
    }
    if (ended?.status === 'passed') continue;
    failures.push(suite);
    result.failed += 1;
    const failed = ended?.assertionResults.find(({ status }) => status === 'failed');
    const test = failed?.fullName ?? (ended === undefined ? 'it did not end' : 'it could not be loaded');
    result.first ??= { test, log };
  }
  return failures;
};

/** The table at the end: failed suites first, then the slowest. */
export const table = (results: Iterable<SuiteRounds>): string => {
  const ordered = [...results].sort((a, b) => b.failed - a.failed || b.slowestSeconds - a.slowestSeconds);
  const width = Math.max(5, ...ordered.map(({ suite }) => suite.length));
  const line = (cells: readonly [string, string, string, string, string], first = '') =>
    `${cells[0].padEnd(width)}${cells
      .slice(1)
      .map((cell) => cell.padStart(9))
      .join('')}${first && `  ${first}`}`;
  return [
    line(['suite', 'rounds', 'passed', 'failed', 'slowest'], 'first failure'),
    ...ordered.map(({ suite, rounds, failed, slowestSeconds, first }) =>
      line(
        [suite, `${rounds}`, `${rounds - failed}`, `${failed}`, `${slowestSeconds.toFixed(1)} s`],
        first === null ? '' : `${first.test} (${first.log})`,
      ),
    ),
  ].join('\n');
};
