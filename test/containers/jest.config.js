// The tests that `npm run prove -- containers` runs against its containers. `npm test` does not run
// them.
export default {
  rootDir: '../..',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/jest/strip-types.js' },
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/containers/*.test.ts'],
  reporters: ['<rootDir>/test/support/jest/reporter.ts'],
  testTimeout: 600_000,
};
