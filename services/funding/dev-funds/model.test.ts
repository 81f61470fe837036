import { expect, test } from '@jest/globals';
import { devFundProblem } from './model.ts';

test.each([
  ['the smallest amount', 1n, true],
  ['10,000 USDC', 10_000_000_000n, true],
  ['one micro-unit more than 10,000 USDC', 10_000_000_001n, false],
  ['the largest amount that a column holds', 2n ** 63n - 1n, false],
])('a call for %s (%d micro-units) is allowed: %s', (_name, amount, allowed) => {
  expect(devFundProblem(amount) === null).toBe(allowed);
});
