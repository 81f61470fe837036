/** The CPU seconds that a suite may take, unless the list below says more. */
const DEFAULT_BUDGET_SECONDS = 20;

type Budget = { seconds: number; why: string };

/**
 * The suites that need more, with the reason. A run lists the suites above their budget. It does
 * not fail, because a slow machine needs more for the same work.
 */
const budgets: Readonly<Record<string, Budget>> = {
  'test/e2e/alone.test.ts': { seconds: 100, why: 'six parts, and the start of their stack' },
};

/** The budget of a suite, by its path from the root. */
export const budgetOf = (suite: string): Budget =>
  budgets[suite] ?? { seconds: DEFAULT_BUDGET_SECONDS, why: 'the default' };
