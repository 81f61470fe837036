import { expect, test } from '@jest/globals';
import { devFundProblem } from './model.ts';

test.each([
  ['the smallest', 1n, true],
  ['10,000 USDC', 10_000_000_000n, true],
  ['a micro-unit more', 10_000_000_001n, false],
  ['the largest amount there is', 2n ** 63n - 1n, false],
])('dev fund: %s', (_name, amount, allowed) => {
  expect(devFundProblem(amount) === null).toBe(allowed);
});
