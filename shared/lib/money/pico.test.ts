import { expect, test } from '@jest/globals';
import { MAX_MICRO_IN_PICO, microOf, picoOf } from './pico.ts';

test.each([
  [0n, 0n],
  [1n, 1n],
  [999_999n, 1n],
  [1_000_000n, 1n],
  [1_000_001n, 2n],
  [picoOf(50_000_000n), 50_000_000n],
])('%s picodollars are %s micro-units', (pico, micro) => {
  expect(microOf(pico)).toBe(micro);
});

test('the picodollars of the highest amount, and what rounds them, fit a bigint of Postgres', () => {
  expect(picoOf(MAX_MICRO_IN_PICO) + 999_999n).toBeLessThan(2n ** 63n);
});
