import { expect, test } from '@jest/globals';
import { ERRORS } from '../../../shared/contract/errors.ts';
import { LIMIT_NAMES } from '../../../shared/contract/limits.ts';
import { DECLINES } from '../../../shared/contract/settlement.ts';
import { declined, isCounted, overLimit, periodOf } from './model.ts';

const USDC = 1_000_000n;
const at = Date.parse('2026-11-23T18:00:00.000Z');
const compared = { askedMicro: 5n * USDC, limitMicro: 10n * USDC, leftMicro: 2n * USDC, at };

test.each([
  [
    'per_payment',
    'per_payment: this payment of 5.00 USDC is above the 10.00 USDC that the delegate may spend in one payment; the owner of the delegate can raise the limit',
    null,
  ],
  [
    'daily',
    'daily: this payment of 5.00 USDC exceeds what the delegate may still spend today: 2.00 USDC of 10.00 USDC are left until 2026-11-24T00:00:00.000Z; the owner of the delegate can raise the limit',
    '2026-11-24T00:00:00.000Z',
  ],
  [
    'monthly',
    'monthly: this payment of 5.00 USDC exceeds what the delegate may still spend this month: 2.00 USDC of 10.00 USDC are left until 2026-12-01T00:00:00.000Z; the owner of the delegate can raise the limit',
    '2026-12-01T00:00:00.000Z',
  ],
  [
    'total',
    'total: this payment of 5.00 USDC exceeds what the delegate may still spend: 2.00 USDC of 10.00 USDC are left; the owner of the delegate can raise the limit',
    null,
  ],
  [
    'balance',
    'this payment of 5.00 USDC exceeds the wallet balance, less what other payments hold: 2.00 USDC of 10.00 USDC are left; top up the wallet',
    null,
  ],
  [
    'allowance',
    'this payment of 5.00 USDC exceeds what the wallet allows to spend, less what other payments hold: 2.00 USDC of 10.00 USDC are left; raise its spending limit',
    null,
  ],
] as const)('%s: the payer gets the figures in the message and in the body', (name, message, resets_at) => {
  const refusal = overLimit(name, compared);
  expect(refusal).toMatchObject({ code: DECLINES[name].code, reason: name, message });
  expect(refusal.extras).toEqual({
    safe_action: name === 'balance' ? 'top_up' : 'raise_limit',
    limit: { name, asked: '5000000', limit: '10000000', left: '2000000', resets_at },
  });
});

test('a wallet without a spending limit is named as such', () => {
  const none = { ...compared, limitMicro: 0n, leftMicro: 0n };
  expect(overLimit('allowance', none).message).toBe(
    'the wallet allows no spending, so this payment of 5.00 USDC is not possible; the owner of the wallet can set a spending limit',
  );
});

test('every limit of an error is a reason of a decline, and every reason has an error code', () => {
  for (const name of LIMIT_NAMES) expect(Object.keys(DECLINES)).toContain(name);
  for (const { code } of Object.values(DECLINES)) expect(Object.keys(ERRORS)).toContain(code);
  expect(declined('vendor_frozen', 'no').code).toBe('conflict');
});

test('a used-up limit is reported once for each day, each month, or ever', () => {
  expect((['daily', 'monthly', 'total'] as const).map((name) => periodOf(name, at))).toEqual([
    '2026-11-23',
    '2026-11',
    'ever',
  ]);
  expect(Object.keys(DECLINES).filter((reason) => isCounted(reason as never))).toEqual([
    'daily',
    'monthly',
    'total',
  ]);
});
