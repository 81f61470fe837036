import { expect, test } from '@jest/globals';
import { extendsExpiry, raises } from './model.ts';

const caps = (text: string, allowed: string[] | null = null) => {
  const [per_payment, daily, monthly, total] = text.split(' ').map((cap) => (cap === '-' ? null : cap));
  return {
    limits: { per_payment: per_payment!, daily: daily!, monthly: monthly!, total: total! },
    allowed_service_ids: allowed,
  };
};

test.each([
  ['the same', caps('1 2 3 4'), caps('1 2 3 4'), false],
  ['all lower', caps('10 20 30 40'), caps('9 19 29 39'), false],
  ['one higher, the others lower', caps('10 20 30 40'), caps('1 1 31 1'), true],
  ['more digits', caps('9 - - -'), caps('10 - - -'), true],
  ['fewer digits', caps('10 - - -'), caps('9 - - -'), false],
  ['a cap removed', caps('- 5 - -'), caps('- - - -'), true],
  ['a cap set', caps('- - - -'), caps('- - - 5'), false],
  ['services restricted', caps('- - - -'), caps('- - - -', ['a']), false],
  ['one service fewer', caps('- - - -', ['a', 'b']), caps('- - - -', ['b']), false],
  ['another service', caps('- - - -', ['a']), caps('- - - -', ['b']), true],
  ['any service', caps('- - - -', ['a']), caps('- - - -'), true],
])('raises: %s', (_name, before, after, expected) => {
  expect(raises(before, after)).toBe(expected);
});

test.each([
  ['later', 10, 11, true],
  ['sooner', 10, 9, false],
  ['the same', 10, 10, false],
  ['no expiry', 10, null, true],
  ['an expiry set', null, 10, false],
  ['still no expiry', null, null, false],
])('extendsExpiry: %s', (_name, before, after, expected) => {
  expect(extendsExpiry(before, after)).toBe(expected);
});
