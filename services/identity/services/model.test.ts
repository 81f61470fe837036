import { expect, test } from '@jest/globals';
import { eachPair } from '../../../test/support/base/each-pair.ts';
import { services } from './model.ts';

test.each(
  // biome-ignore format: a table
  eachPair(services, ['close', 'reopen', 'end'], {
    active:  ['closing', '-',      '-'],
    closing: ['closing', 'active', 'closed'],
    closed:  ['-',       '-',      '-'],
  }),
)('transition of a service in state %s on %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});
