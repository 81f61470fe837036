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

const place = ({ context }) => ORDER.indexOf(context.config.displayName?.name);

/**
 * One project after another, in jest's own order within each: by the durations of the last run. All
 * end-to-end suites are together, so that their stack can be stopped (stack-reporter.ts).
 */
export default class ByProject extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => place(a) - place(b));
  }
}
