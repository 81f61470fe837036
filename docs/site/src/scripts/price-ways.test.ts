import { expect, test } from '@jest/globals';
import { bestOf, waysOf } from './price-ways.ts';

const fees = {
  quote: { bps: 50n, minMicro: 10_000n },
  x402: { bps: 50n, minMicro: 2001n },
};
const CENT = 10_000n;

/** Price, calls, buyers; then what is left by quote, x402, pack and tab. Null: not possible. */
test.each<[string, bigint, bigint, bigint, (bigint | null)[]]>([
  ['0.05 USDC, one buyer', 5n * CENT, 1000n, 1n, [40_000_000n, 47_999_000n, 49_750_000n, 49_750_000n]],
  ['a price of the fee', CENT, 100n, 1n, [null, 799_900n, 990_000n, 990_000n]],
  ['a micro-unit, and no buyer uses more than the fee', 1n, 10_000n, 1n, [null, null, null, null]],
  ['a micro-unit more than the fee in a tab', 1n, 10_001n, 1n, [null, null, null, 1n]],
  ['many buyers with one call each', 5n * CENT, 100n, 100n, [4_000_000n, 4_799_900n, null, 4_000_000n]],
  ['more buyers than calls', 5n * CENT, 2n, 9n, [80_000n, 95_998n, null, 80_000n]],
  [
    '150 calls of each buyer, in two packs',
    5n * CENT,
    150n,
    1n,
    [6_000_000n, 7_199_850n, 7_450_000n, 7_462_500n],
  ],
  ['a pack of the fee', 100n, 100n, 1n, [null, null, null, null]],
  [
    'a price beyond the largest ceiling',
    60_000_000n,
    2n,
    1n,
    [119_400_000n, 119_400_000n, null, 119_400_000n],
  ],
])('what is left of %s', (_name, priceMicro, calls, buyers, left) => {
  expect(waysOf({ priceMicro, calls, buyers }, fees).map(({ netMicro }) => netMicro)).toEqual(left);
});

test('the rest of a tab that is no more than the fee is lost, and counted as lost', () => {
  // 101 calls of 0.01 USDC: a full tab of 1 USDC, and a rest of 0.01.
  const [, , , tab] = waysOf({ priceMicro: CENT, calls: 101n, buyers: 1n }, fees);
  expect(tab).toMatchObject({ payments: 1n, feeMicro: 10_000n, netMicro: 990_000n });
});

test('the best way leaves the most, and there may be none', () => {
  const best = (priceMicro: bigint, calls: bigint, buyers: bigint) =>
    bestOf(waysOf({ priceMicro, calls, buyers }, fees))?.name ?? null;
  expect([best(5n * CENT, 100n, 100n), best(100n, 100_000n, 10n), best(1n, 10n, 1n)]).toEqual([
    'x402',
    'Tab',
    null,
  ]);
});
