import { expect, test } from '@jest/globals';
import { MicroUsdc } from './primitives.ts';

test.each([
  ['one micro-unit', '1', true],
  ['2^63-1', '9223372036854775807', true],
  ['2^63', '9223372036854775808', false],
  ['20 digits', '10000000000000000000', false],
  ['zero', '0', false],
  ['negative', '-1', false],
  ['leading zero', '01', false],
  ['exponent', '1e3', false],
  ['hexadecimal', '0x10', false],
  ['a space', ' 1', false],
  ['empty', '', false],
  ['full-width digits', '１', false],
  ['a number', 1000, false],
  ['a list', ['1000'], false],
  ['a long text, which BigInt would throw on', 'a'.repeat(40), false],
  ['a long text that begins with digits', `${'1'.repeat(30)}n`, false],
])('amount: %s', (_name, value, accepted) => {
  expect(MicroUsdc.safeParse(value).success).toBe(accepted);
});
