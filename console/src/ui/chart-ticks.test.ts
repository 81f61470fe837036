import { expect, test } from '@jest/globals';
import { ticksOf } from './chart-ticks.ts';

test.each([
  ['0.26 USDC', 260_000n, [0n, 100_000n, 200_000n, 300_000n]],
  ['0.40 USDC exactly', 400_000n, [0n, 100_000n, 200_000n, 300_000n, 400_000n]],
  ['0.41 USDC', 410_000n, [0n, 200_000n, 400_000n, 600_000n]],
  ['nothing', 0n, [0n, 1n]],
  ['12,345 USDC', 12_345_000_000n, [0n, 5_000_000_000n, 10_000_000_000n, 15_000_000_000n]],
  // 2^53 is below it.
  ['more than a float holds', 10n ** 17n + 1n, [0n, 5n * 10n ** 16n, 10n ** 17n, 15n * 10n ** 16n]],
])('%s', (_name, highest, ticks) => expect(ticksOf(highest)).toEqual(ticks));
