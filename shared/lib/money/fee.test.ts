import { expect, test } from '@jest/globals';
import { feeMicro, netMicro } from './fee.ts';

const rule = { bps: 50n, minMicro: 10_000n };

test.each([
  ['below the minimum', 1n, 10_000n],
  ['just below the amount where the share exceeds the minimum', 2_000_000n, 10_000n],
  ['the first share above the minimum, rounded down', 2_000_199n, 10_000n],
  ['one micro-unit more', 2_000_200n, 10_001n],
  ['0.5 % of 2.5 USDC', 2_500_000n, 12_500n],
  ['the largest amount', 2n ** 63n - 1n, (2n ** 63n - 1n) / 200n],
])('fee: %s', (_name, amount, expected) => {
  expect(feeMicro(amount, rule).toString()).toBe(expected.toString());
});

test.each([
  ['an amount below the fee', 9_999n, 0n],
  ['the fee itself', 10_000n, 0n],
  ['one micro-unit more', 10_001n, 1n],
  ['2.5 USDC', 2_500_000n, 2_487_500n],
])('the vendor receives of %s', (_name, amount, expected) => {
  expect(netMicro(amount, rule).toString()).toBe(expected.toString());
});
