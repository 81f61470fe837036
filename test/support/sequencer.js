import Sequencer from '@jest/test-sequencer';

const isLast = ({ context }) => context.config.displayName?.name === 'faults';

/**
 * Jest's own order, and the campaign when everything else is done: it breaks things by the clock,
 * and wants the machine.
 */
export default class FaultsLast extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter((test) => !isLast(test)), ...sorted.filter(isLast)];
  }
}
