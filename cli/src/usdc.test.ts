import { expect, test } from '@jest/globals';
import { UsageError } from './errors.ts';
import { formatUsdc, parseUsdc } from './usdc.ts';

test.each([
  ['1', '1000000'],
  ['0.10', '100000'],
  ['0.000001', '1'],
  ['007.5', '7500000'],
  ['99999999999999.999999', '99999999999999999999'],
])('%s USDC are %s micro-units', (text, micro) => {
  expect(parseUsdc(text, '--max')).toBe(micro);
});

test.each([
  '',
  '0',
  '0.0',
  '-1',
  '1.',
  '.5',
  '1,5',
  '1e3',
  ' 1',
  '0.0000001',
  'NaN',
  '0x1',
  '١',
  '1'.repeat(15),
])('"%s" is refused, with the option and an example', (text) => {
  expect(() => parseUsdc(text, '--max')).toThrow(UsageError);
  expect(() => parseUsdc(text, '--max')).toThrow(/^--max: ".*" is not an amount in USDC, like 0\.10/);
});

test.each([
  ['0', '0.000000 USDC'],
  ['1', '0.000001 USDC'],
  ['2500000', '2.500000 USDC'],
  ['99999999999999999999', '99999999999999.999999 USDC'],
])('%s micro-units are shown as %s', (micro, text) => {
  expect(formatUsdc(micro)).toBe(text);
});
