/** The CPU seconds that a suite may take, unless the list below says more. */
const DEFAULT_BUDGET_SECONDS = 20;

type Budget = { seconds: number; why: string };

/**
 * The suites that need more, with the reason. A run lists the suites above their budget. It does
 * not fail, because a slow machine needs more for the same work.
 */
const budgets: Readonly<Record<string, Budget>> = {
  'deploy/compose/compose.release.test.ts': { seconds: 30, why: 'a whole stack without containers' },
  'deploy/image/image.release.test.ts': { seconds: 50, why: 'every program of the image, started' },
  'deploy/image/signals.release.test.ts': { seconds: 25, why: 'every program, ended by a signal' },
  'sdk/build.release.test.ts': {
    seconds: 90,
    why: 'every version of Node and of the compiler, in four forms',
  },
  'test/packages/clone.test.ts': { seconds: 40, why: 'a copy of what npm start installs' },
  'test/packages/next.test.ts': { seconds: 40, why: 'a build of Next' },
  'deploy/local/stack/stack.release.test.ts': { seconds: 30, why: 'four starts of a stack' },
  'deploy/local/stack/stack.rolling.release.test.ts': {
    seconds: 110,
    why: 'two of every service, each restarted under load',
  },
  'services/chain-submitter/broadcast/agreement.integration.test.ts': {
    seconds: 30,
    why: 'restarts with other providers',
  },
  'services/chain-submitter/execution/execution.crash.integration.test.ts': {
    seconds: 40,
    why: 'a new process for each crash point',
  },
  'test/e2e/alone.test.ts': { seconds: 110, why: 'seven parts, and the start of their stack' },
  'test/e2e/gate-kills.test.ts': { seconds: 60, why: 'gates and APIs, started again 70 times' },
  'test/e2e/restarts.test.ts': { seconds: 80, why: 'a restore, and several starts of a stack' },
  'test/economics/economics.integration.test.ts': { seconds: 40, why: 'ten attacks, hundreds of payments' },
  'test/faults/campaign.test.ts': { seconds: 160, why: 'a stack with two of some services, 23 faults' },
  'test/faults/restores.test.ts': { seconds: 60, why: 'two restores of a stack to a point in time' },
  'test/faults/versions.test.ts': {
    seconds: 150,
    why: 'two of some services, each started again in another version, and 6 faults',
  },
  'test/interop/gate.test.ts': { seconds: 40, why: 'gates and buyers of others, a process each' },
  'test/interop/gate.proxies.test.ts': {
    seconds: 30,
    why: 'four proxies, and buyers of others, a process each',
  },
  'test/interop/gate.servers.test.ts': {
    seconds: 120,
    why: '15 servers and 4 proxies, 800 forms each, and the price of each that has one',
  },
  'test/interop/mcp.test.ts': { seconds: 40, why: 'the packages are installed and hosts started' },
  'test/interop/outgoing.mpp.test.ts': {
    seconds: 30,
    why: 'the packages are installed, and vendors started',
  },
  'test/interop/paywall.test.ts': { seconds: 40, why: '88 payments by programs of others' },
  'test/interop/outgoing.test.ts': { seconds: 80, why: 'vendors of others, a process each' },
  'test/interop/reference.test.ts': { seconds: 55, why: 'programs of others, a process each' },
  'test/simulation/simulation.test.ts': { seconds: 55, why: '100 seeds, and 53 rules switched off' },
};

/** The budget of a suite, by its path from the root. */
export const budgetOf = (suite: string): Budget =>
  budgets[suite] ?? { seconds: DEFAULT_BUDGET_SECONDS, why: 'the default' };
