import { expect, test } from '@jest/globals';
import { displayUsdc, formatUsdc, parseUsdc, plainUsdc } from './usdc.ts';

test.each([
  [0n, '0.00', '0.00'],
  [1n, '0.000001', '0.000001'],
  [10_000n, '0.01', '0.01'],
  [1_500_000n, '1.50', '1.50'],
  [1_234_567n, '1.234567', '1.234567'],
  [999_999_999n, '999.999999', '999.999999'],
  [1_234_500_000n, '1,234.50', '1234.50'],
  [1_000_000_000_000n, '1,000,000.00', '1000000.00'],
  [-2_500_010n, '−2.50001', '-2.50001'],
  [9_223_372_036_854_775_807n, '9,223,372,036,854.775807', '9223372036854.775807'],
])('%s micro-units are %s for people and %s in fields', (micro, shown, plain) => {
  expect([formatUsdc(micro), plainUsdc(micro)]).toEqual([shown, plain]);
});

test('the digits of the wire have the same text, and no digits have none', () => {
  expect([displayUsdc('2500000'), displayUsdc(2_500_000n)]).toEqual(['2.50 USDC', '2.50 USDC']);
  expect(() => displayUsdc('2.5')).toThrow(SyntaxError);
});

test.each([
  ['1', 1_000_000n],
  ['12.5', 12_500_000n],
  ['0.10', 100_000n],
  ['007.5', 7_500_000n],
  ['0.000001', 1n],
  ['999999999999.999999', 999_999_999_999_999_999n],
  ['0', null],
  ['0.0', null],
  ['0.0000001', null],
  ['-1', null],
  ['−1', null],
  ['+1', null],
  ['1.', null],
  ['.5', null],
  ['1,5', null],
  ['1,000', null],
  ['1 000', null],
  ["1'000", null],
  ['1_000', null],
  ['1e3', null],
  ['0x1', null],
  [' 1', null],
  ['1 ', null],
  ['1\n', null],
  ['$1', null],
  ['1 USDC', null],
  ['NaN', null],
  ['', null],
  ['١', null],
  ['１', null],
  ['1234567890123', null],
])('%p entered is %s', (typed, micro) => expect(parseUsdc(typed)).toBe(micro));

test.each([1n, 20_000n, 2_500_000n, 1_234_567_890n, 999_999_999_999_999_999n])(
  'the text of %s in a field is read as the same amount',
  (micro) => expect(parseUsdc(plainUsdc(micro))).toBe(micro),
);
