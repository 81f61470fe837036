import Sequencer from '@jest/test-sequencer';

/** Where the long suites are. A fresh clone has no durations of an earlier run. */
const LONG_FIRST = ['e2e', 'simulation', 'integration', 'unit'];

const nameOf = ({ context }) => context.config.displayName?.name;
const rank = (test) =>
  nameOf(test) === 'faults'
    ? LONG_FIRST.length
    : test.duration === undefined
      ? LONG_FIRST.indexOf(nameOf(test))
      : 0;

/**
 * Jest's own order, by the durations of the last run, or the projects with long suites first. The
 * campaigns run when everything else is done: they break things by the clock, and want the machine.
 */
export default class LongFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b));
  }
}
