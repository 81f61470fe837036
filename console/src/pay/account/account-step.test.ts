import { describe, expect, test } from '@jest/globals';
import { allowanceFor, nextStep, payerOf } from './account-step.ts';

const wallet = (wallet_id: string, balance: string, status = 'none', allowance = '0') => ({
  wallet_id,
  balance,
  delegation: { status, allowance },
});
const PRICE = 50_000n;

test.each([
  ['no wallet', null, 'wallet'],
  ['an empty wallet', wallet('a', '0'), 'money'],
  ['one micro-unit too little', wallet('a', '49999', 'active', '1000000'), 'money'],
  ['exactly the price', wallet('a', '50000'), 'pay'],
  ['more than the price', wallet('a', '90000', 'active', '90000'), 'pay'],
])('with %s the next step is right', (_, payer, step) => {
  expect(nextStep(payer, PRICE)).toBe(step);
});

test('the chosen wallet pays, or the first one of the account, which is listed last', () => {
  const [newer, older] = [wallet('newer', '0'), wallet('older', '0')];
  expect(payerOf([newer, older], null)).toBe(older);
  expect(payerOf([newer, older], 'newer')).toBe(newer);
  expect(payerOf([newer, older], 'gone')).toBe(older);
  expect(payerOf([], null)).toBeNull();
});

describe('the allowance to sign', () => {
  test.each([
    ['nothing is allowed', 'none', '0', false, 50_000n],
    ['too little is allowed', 'active', '49999', false, 99_999n],
    ['enough is allowed', 'active', '50000', false, null],
    ['enough is allowed, and others hold it', 'active', '60000', true, 110_000n],
    ['it was revoked', 'revoked', '70000', false, 50_000n],
    ['another program has replaced it', 'overwritten', '70000', false, 50_000n],
    ['it is not on chain yet', 'pending', '70000', false, 50_000n],
  ])('when %s', (_, status, allowance, isRefused, wanted) => {
    expect(allowanceFor(wallet('a', '90000', status, allowance), PRICE, isRefused)).toBe(wanted);
  });
});
