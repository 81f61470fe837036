import path from 'node:path';
import root from '../../jest.config.js';

const rootDir = path.resolve(import.meta.dirname, '../..');
const [unit] = root.projects;

/** The tests of `npm run cluster`. They are no part of `npm test`, because they need a cluster. */
export default {
  ...root,
  rootDir,
  projects: [
    { ...unit, displayName: 'cluster', rootDir, testMatch: ['<rootDir>/test/cluster/**/*.test.ts'] },
  ],
  testTimeout: 300_000,
  maxWorkers: 1,
};
