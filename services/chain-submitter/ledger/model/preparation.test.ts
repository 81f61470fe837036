import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/base/each-pair.ts';
import { preparations } from './preparation.ts';

test.each(
  // biome-ignore format: a table
  eachPair(preparations, ['prepare', 'replace', 'submit', 'cancel'], {
    open:      ['open', 'replaced', 'submitted', 'cancelled'],
    replaced:  ['open', '-',        '-',         'cancelled'],
    submitted: ['-',    '-',        '-',         '-'],
    cancelled: ['-',    '-',        '-',         'cancelled'],
  }),
)('transition of a preparation in state %s on %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});

test('an open preparation can be submitted or cancelled', () => {
  expect(preparations.open).toEqual(['open', 'replaced']);
});
