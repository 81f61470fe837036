import { expect, test } from '@jest/globals';
import { microFromDecimal } from './micro.ts';

test.each([
  ['48.5', 48_500_000n],
  ['48', 48_000_000n],
  ['0.000001', 1n],
  ['48.1234567', 48_123_456n],
  ['48.10', 48_100_000n],
  ['00.5', 500_000n],
  ['0', null],
  ['0.0000009', null],
  ['-1', null],
  ['+1', null],
  ['1e2', null],
  ['1.', null],
  ['.5', null],
  ['1,5', null],
  [' 1', null],
  ['', null],
  ['NaN', null],
  ['１', null],
  ['1234567890123', null],
])('the amount of the decimal text %p', (text, expected) => {
  expect(microFromDecimal(text)).toBe(expected);
});
