import { expect, test } from '@jest/globals';
import { exactUsdc, typedUsdc } from './money.ts';

test('the text on hover has the micro-units', () => {
  expect(exactUsdc(1_234_500_000n)).toBe('1,234.50 USDC · 1234500000 micro-units');
});

test.each([
  [' 12.5 ', 12_500_000n],
  ['\t0.000001\n', 1n],
  ['1,000', null],
  ['1 000', null],
  [' ', null],
])('%p in a field is %s', (typed, micro) => expect(typedUsdc(typed)).toBe(micro));
