import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/base/each-pair.ts';
import { transactions } from './transaction.ts';

test.each(
  // biome-ignore format: a table
  eachPair(transactions, ['expire', 'fail', 'revive'], {
    live:    ['expired', 'failed', '-'],
    expired: ['-',       '-',      'live'],
    failed:  ['-',       '-',      'live'],
  }),
)('transition of a transaction in state %s on %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});
