import path from 'node:path';
import root from '../../jest.config.js';

const rootDir = path.resolve(import.meta.dirname, '../..');
const [unit] = root.projects;

/** The tests of `npm run prove -- cluster`. They need a cluster, so `npm test` has none of them. */
export default {
  ...root,
  rootDir,
  projects: [
    { ...unit, displayName: 'cluster', rootDir, testMatch: ['<rootDir>/test/cluster/**/*.test.ts'] },
  ],
  testTimeout: 300_000,
  maxWorkers: 1,
};
