import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/base/each-pair.ts';
import { SIDES, shareMicro, transactions } from './transaction.ts';

test.each(
  // biome-ignore format: a table
  eachPair(transactions, ['confirmed', 'finalized', 'reversed'], {
    confirmed: ['confirmed', 'finalized', 'reversed'],
    finalized: ['-',         'finalized', 'reversed'],
    reversed:  ['-',         '-',         'reversed'],
  }),
)('a transaction in the state %s that is reported as %s becomes: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});

test.each([
  ['the payer pays the gross amount', 'out', 1_000_000n, 10_000n, 1_000_000n],
  ['the vendor receives the net amount', 'in', 1_000_000n, 10_000n, 990_000n],
  ['without a fee the vendor receives the gross amount', 'in', 5n, 0n, 5n],
] as const)('%s', (_name, direction, amount, fee, expected) => {
  expect(shareMicro(direction, amount, fee)).toBe(expected);
});

test('each side is named once, because a list would show a repeated one twice', () => {
  const names = SIDES.map(({ type, direction }) => `${type} ${direction}`);
  expect(new Set(names).size).toBe(names.length);
});
