import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/each-pair.ts';
import { SIDES, shareMicro, transactions } from './transaction.ts';

test.each(
  // biome-ignore format: a table
  eachPair(transactions, ['confirmed', 'finalized', 'reversed'], {
    confirmed: ['confirmed', 'finalized', 'reversed'],
    finalized: ['-',         'finalized', 'reversed'],
    reversed:  ['-',         '-',         'reversed'],
  }),
)('a transaction that is %s, told to be %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});

test.each([
  ['the payer gives the gross', 'out', 1_000_000n, 10_000n, 1_000_000n],
  ['the vendor gets the net', 'in', 1_000_000n, 10_000n, 990_000n],
  ['without a fee both are the same', 'in', 5n, 0n, 5n],
] as const)('%s', (_name, direction, amount, fee, expected) => {
  expect(shareMicro(direction, amount, fee)).toBe(expected);
});

test('a side stands once, or a list would show it twice', () => {
  const names = SIDES.map(({ type, direction }) => `${type} ${direction}`);
  expect(new Set(names).size).toBe(names.length);
});
