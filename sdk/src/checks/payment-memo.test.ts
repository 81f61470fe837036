import { expect, test } from '@jest/globals';
import { isMemoOf, memoOf, memoTextOf } from './payment-memo.ts';

const HASH = 'a'.repeat(43);
const SOLD = { amount: '50000', resource: 'https://shop.example/report' };

test('a memo says what is paid to whom, and has at most 76 characters', () => {
  expect(memoOf(memoTextOf(SOLD), HASH)).toBe(`0.05 USDC to shop.example ${'a'.repeat(22)}`);
  const long = { amount: '123456789012345', resource: `https://${'a.'.repeat(80)}shop.example:8443/` };
  expect(memoTextOf(long)).toBe('123,456,789.012345 USDC to ...a.a.a.shop.example:8443');
  expect(memoOf(memoTextOf(long), HASH).length).toBeLessThanOrEqual(76);
  expect(memoOf(null, HASH)).toBe('a'.repeat(22));
});

test.each([
  ['its own text', memoOf(memoTextOf(SOLD), HASH), true],
  ['no text', memoOf(null, HASH), true],
  ['another text of the length of a hash', 'refund of 500 USDC now', false],
  ['the text of another amount', memoOf(memoTextOf({ ...SOLD, amount: '60000' }), HASH), false],
  ['the text of another vendor', memoOf(memoTextOf({ ...SOLD, resource: 'https://a.example' }), HASH), false],
  ['its own text and more', `${memoTextOf(SOLD)} and a refund ${'a'.repeat(22)}`, false],
  ['a text without a hash', memoTextOf(SOLD), false],
  ['any text', 'Confirm your refund of 500 USDC', false],
])('a memo with %s', (_, memo, expected) => {
  expect(isMemoOf(memo, SOLD)).toBe(expected);
});
