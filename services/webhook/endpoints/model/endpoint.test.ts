import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/base/each-pair.ts';
import { endpoints } from './endpoint.ts';

test.each(
  // biome-ignore format: a table
  eachPair(endpoints, ['enable', 'disable', 'fail', 'gone'], {
    on:      ['on', 'owner',   'failing', 'gone'],
    owner:   ['on', 'owner',   '-',       '-'],
    failing: ['on', 'failing', '-',       '-'],
    gone:    ['on', 'gone',    '-',       '-'],
  }),
)('transition of an endpoint in state %s on %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});
