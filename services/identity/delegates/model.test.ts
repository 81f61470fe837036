import { expect, test } from '@jest/globals';
import { extendsExpiry, raises } from './model.ts';

const caps = (text: string, allowed: string[] | null = null) => {
  const [per_payment, daily, monthly, total] = text.split(' ').map((cap) => (cap === '-' ? null : cap));
  return {
    limits: { per_payment: per_payment!, daily: daily!, monthly: monthly!, total: total! },
    allowed_service_ids: allowed,
    external: null,
    approval_above: null,
    paused: false,
  };
};
type External = ReturnType<typeof caps>['external'] | { pay_to: 'any' | string[]; origins: string[] | null };
/** Without limits. */
const to = (external: External, approval_above: string | null = null) => ({
  ...caps('- - - -'),
  external,
  approval_above,
});

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
  ['external payments allowed', to(null), to({ pay_to: ['a'], origins: null }), true],
  ['external payments removed', to({ pay_to: 'any', origins: null }), to(null), false],
  ['one payee fewer', to({ pay_to: ['a', 'b'], origins: null }), to({ pay_to: ['b'], origins: null }), false],
  ['another payee', to({ pay_to: ['a'], origins: null }), to({ pay_to: ['b'], origins: null }), true],
  ['any payee', to({ pay_to: ['a'], origins: null }), to({ pay_to: 'any', origins: null }), true],
  ['payees restricted', to({ pay_to: 'any', origins: null }), to({ pay_to: ['a'], origins: null }), false],
  ['any origin', to({ pay_to: 'any', origins: ['o'] }), to({ pay_to: 'any', origins: null }), true],
  ['another origin', to({ pay_to: 'any', origins: ['o'] }), to({ pay_to: 'any', origins: ['o', 'p'] }), true],
  ['origins restricted', to({ pay_to: 'any', origins: null }), to({ pay_to: 'any', origins: ['o'] }), false],
  ['approval above a higher amount', to(null, '9'), to(null, '10'), true],
  ['approval above a lower amount', to(null, '10'), to(null, '9'), false],
  ['no more approvals', to(null, '10'), to(null), true],
  ['approval required', to(null), to(null, '10'), false],
  ['paused', caps('1 - - -'), { ...caps('1 - - -'), paused: true }, false],
  ['still paused', { ...caps('1 - - -'), paused: true }, { ...caps('1 - - -'), paused: true }, false],
  ['resumed', { ...caps('1 - - -'), paused: true }, caps('1 - - -'), true],
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
