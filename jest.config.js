const common = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.js' },
  testEnvironment: 'node',
  modulePathIgnorePatterns: ['<rootDir>/.local/'],
};

export default { ...common, testMatch: ['<rootDir>/{services,shared,deploy,test,sdk}/**/*.test.ts'] };
