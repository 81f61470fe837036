import { expect, test } from '@jest/globals';
import { priorityPrice } from './priority-fee.ts';

const fees = (...prices: number[]) =>
  prices.map((prioritizationFee, at) => ({ slot: 1000 - at, prioritizationFee }));
const MOST = 250_000n;

test.each([
  ['a quiet chain', fees(0, 0, 0, 0), 0, 0n],
  ['no answer about any slot', [], 0, 0n],
  ['three of four slots took less', fees(400, 100, 300, 200), 0, 300n],
  ['one expensive slot of four does not count', fees(9_000, 100, 100, 100), 0, 100n],
  [
    'old slots do not count',
    [...fees(...Array<number>(20).fill(7)), { slot: 1, prioritizationFee: 90_000 }],
    0,
    7n,
  ],
  ['after one expired transaction, twice as much', fees(300), 1, 2_000n],
  ['after two, four times', fees(3_000), 2, 12_000n],
  ['never above the cap', fees(400_000), 0, MOST],
  ['not after many expired ones either', fees(300), 40, MOST],
] as const)('%s', (_name, recent, generation, price) => {
  expect(priorityPrice(recent, generation, MOST)).toBe(price);
});
