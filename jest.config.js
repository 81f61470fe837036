import path from 'node:path';
import { useEmptyFolders } from './test/support/jest/empty-folders.ts';

// Node keeps its compiled code here for the workers and all processes that the tests start. Builds
// of the programs remove old folders of .local/programs, so it is not there.
process.env.NODE_COMPILE_CACHE ??= path.join(import.meta.dirname, '.local/compile-cache');

useEmptyFolders();

const common = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/jest/strip-types.js' },
  testEnvironment: 'node',
  testRunner: '<rootDir>/test/support/jest/runner.js',
  setupFiles: ['<rootDir>/test/support/jest/output.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.local/'],
};

/** Suites that use the common stack. */
const withStack = {
  ...common,
  // These suites have the machine's clock, as the common stack has (test/support/base/suite-clock.ts).
  globals: { suiteClockOffsetMs: 0 },
  globalSetup: '<rootDir>/test/support/jest/e2e-setup.ts',
  globalTeardown: '<rootDir>/test/support/jest/e2e-teardown.ts',
};

/**
 * `npm test` runs unit, simulation, integration, e2e and faults: what a change needs. `npm run
 * test:clients` runs browser, interop and release: what people and their programs use, and what a
 * release ships.
 */
export default {
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{services,shared,deploy,sdk,mcp,cli,gate,console,tools,bench,docs}/**/*.test.ts',
        '<rootDir>/test/*.test.ts',
        '<rootDir>/test/fuzz/*.test.ts',
      ],
      testPathIgnorePatterns: ['/node_modules/', '\\.(integration|release)\\.test\\.ts$'],
    },
    {
      ...common,
      displayName: 'integration',
      testMatch: ['<rootDir>/**/*.integration.test.ts'],
      globalSetup: '<rootDir>/test/support/jest/integration-setup.ts',
      globalTeardown: '<rootDir>/test/support/jest/integration-teardown.ts',
    },
    {
      ...common,
      displayName: 'simulation',
      testMatch: ['<rootDir>/test/simulation/*.test.ts'],
    },
    { ...withStack, displayName: 'e2e', testMatch: ['<rootDir>/test/e2e/*.test.ts'] },
    { ...withStack, displayName: 'browser', testMatch: ['<rootDir>/test/browser/*.test.ts'] },
    { ...withStack, displayName: 'interop', testMatch: ['<rootDir>/test/interop/*.test.ts'] },
    {
      ...common,
      displayName: 'release',
      testMatch: ['<rootDir>/{cli,deploy,gate,mcp,sdk,tools}/**/*.release.test.ts'],
      globalSetup: '<rootDir>/test/support/jest/release-setup.ts',
    },
    {
      ...common,
      displayName: 'packages',
      testMatch: ['<rootDir>/{cli,gate,mcp,sdk}/**/*.release.test.ts', '<rootDir>/test/packages/*.test.ts'],
      globalSetup: '<rootDir>/test/support/jest/release-setup.ts',
    },
    {
      ...common,
      displayName: 'faults',
      testMatch: ['<rootDir>/test/faults/**/*.test.ts'],
    },
  ],
  testSequencer: '<rootDir>/test/support/jest/sequencer.js',
  reporters: ['<rootDir>/test/support/jest/reporter.ts', '<rootDir>/test/support/jest/stack-reporter.ts'],
  // Against a test that hangs. A slow machine fails none.
  testTimeout: 180_000,
  // Most of a suite waits for blocks, mails or windows. Three suites at a time use two cores well.
  // With four, the Redis of the common stack did not answer within half a second now and then.
  maxWorkers: 3,
  // A worker keeps something of each suite. A new one takes less time than collecting a large heap.
  workerIdleMemoryLimit: '600MB',
  // After many suites a worker was ended by force at the default of 500 ms.
  workerGracefulExitTimeout: 20_000,
};
