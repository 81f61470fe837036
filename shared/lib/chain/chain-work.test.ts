import { expect, test } from '@jest/globals';
import { eachPair } from '../../../test/support/base/each-pair.ts';
import { chainWork, UNDECIDED } from './chain-work.ts';

test.each(
  // biome-ignore format: a table
  eachPair(chainWork, ['submit', 'signed', 'confirmed', 'finalized', 'failed', 'reopened'], {
    new:       ['signed', 'signed', 'confirmed', 'finalized', 'failed', '-'],
    signed:    ['-',      'signed', 'confirmed', 'finalized', 'failed', '-'],
    confirmed: ['-',      '-',      '-',         'finalized', 'failed', 'signed'],
    finalized: ['-',      '-',      '-',         '-',         '-',      '-'],
    failed:    ['-',      '-',      '-',         '-',         '-',      '-'],
  }),
)('transition of work in state %s on %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});

test('undecided work is dispatched again; confirmed work is decided and still open', () => {
  expect(UNDECIDED).toEqual(['new', 'signed']);
  expect(chainWork.open).toEqual(['new', 'signed', 'confirmed']);
});
