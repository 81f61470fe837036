import { expect, test } from '@jest/globals';
import { exactUsdc, formatUsdc, parseUsdc } from './money.ts';

test.each([
  [0n, '0.00'],
  [1n, '0.000001'],
  [10_000n, '0.01'],
  [1_500_000n, '1.50'],
  [1_234_567n, '1.234567'],
  [1_234_500_000n, '1,234.50'],
  [-2_500_010n, '−2.50001'],
  [9_223_372_036_854_775_807n, '9,223,372,036,854.775807'],
])('%s micro-units are shown as %s', (micro, shown) => expect(formatUsdc(micro)).toBe(shown));

test('the exact form has all six decimals and the micro-units', () => {
  expect(exactUsdc(1_500_000n)).toBe('1.500000 USDC · 1500000 micro-units');
});

test.each([
  ['12.5', 12_500_000n],
  [' 1,000 ', 1_000_000_000n],
  ['0.000001', 1n],
  ['0', null],
  ['0.0000001', null],
  ['1e3', null],
  ['-1', null],
  ['1,00', null],
  ['1.', null],
  ['.5', null],
  ['', null],
  ['1234567890123', null],
])('%p entered is %s', (typed, micro) => expect(parseUsdc(typed)).toBe(micro));
