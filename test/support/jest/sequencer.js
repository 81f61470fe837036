import path from 'node:path';
import Sequencer from '@jest/test-sequencer';

/**
 * The projects with the long suites first, so that no core waits for one at the end. The campaigns
 * run when everything else is done: they break things by the clock, and want the machine.
 */
const ORDER = [
  'e2e',
  'browser',
  'interop',
  'release',
  'packages',
  'simulation',
  'integration',
  'unit',
  'faults',
];

/**
 * The longest suites of their projects, longest first. Jest knows durations after its first run on
 * a machine. Before, it goes by the size of the file, and these are short files.
 */
const LONGEST = [
  'test/e2e/alone.test.ts',
  'test/e2e/gate-kills.test.ts',
  'test/e2e/restarts.test.ts',
  'services/chain-submitter/execution/execution.crash.integration.test.ts',
  'test/economics/economics.integration.test.ts',
  'test/faults/campaign.test.ts',
];

const place = ({ context }) => ORDER.indexOf(context.config.displayName?.name);
const length = ({ path: file, context }) => {
  const at = LONGEST.indexOf(path.relative(context.config.rootDir, file));
  return at < 0 ? LONGEST.length : at;
};

/**
 * One project after another, in each the longest first, and then in jest's own order: by the
 * durations of the last run. All end-to-end suites are together, so that their stack can be stopped
 * (stack-reporter.ts).
 */
export default class ByProject extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => place(a) - place(b) || length(a) - length(b));
  }
}
