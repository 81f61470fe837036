import { expect, test } from '@jest/globals';
import { accruedFeeMicro } from './model.ts';

const rule = { bps: 50n, minMicro: 2000n, solPriceMicro: 200_000_000n };

test.each<[string, amount: bigint, lamports: bigint, fee: bigint]>([
  ['the minimum of a small price', 50_000n, 10_000n, 2000n],
  ['the minimum of a price below it', 1n, 10_000n, 2000n],
  ['the share of a large price, rounded down', 1_000_199n, 10_000n, 5000n],
  ['the cost of an expensive transaction', 50_000n, 30_000n, 6000n],
  ['the cost, rounded up', 1n, 10_000_001n, 2_000_001n],
  ['the largest amount', 2n ** 63n - 1n, 10_000n, ((2n ** 63n - 1n) * 50n) / 10_000n],
])('the accrued fee is %s', (_name, amount, lamports, fee) => {
  expect(accruedFeeMicro(amount, lamports, rule)).toBe(fee);
});
