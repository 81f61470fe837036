import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/base/each-pair.ts';
import { quoteStatus, settlements } from './status.ts';

test.each(
  // biome-ignore format: a table
  eachPair(settlements, ['accepted', 'issued', 'failed'], {
    accepted: ['accepted', 'issued', 'failed'],
    issued:   ['-',        '-',      'failed'],
    failed:   ['-',        '-',      'failed'],
  }),
)('the settlement of a quote that is %s, then %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});

test.each([
  ['new', null, 1000, 999, 'pending'],
  ['at its expiry', null, 1000, 1000, 'expired'],
  ['being paid', 'accepted', 1000, 999, 'settling'],
  ['being paid, past its expiry', 'accepted', 1000, 2000, 'settling'],
  ['payment failed, may be paid again', 'failed', 1000, 999, 'pending'],
  ['payment failed, expired', 'failed', 1000, 1000, 'expired'],
  ['paid', 'issued', 1000, 2000, 'settled'],
] as const)('status of a quote: %s', (_name, state, expiresAt, now, expected) => {
  expect(quoteStatus(state, expiresAt, now)).toBe(expected);
});
