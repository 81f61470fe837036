import { expect, test } from '@jest/globals';
import { capsOf, comparedOf, leastLeftOfCaps } from './limits.ts';
import { OUTGOING_REFUSALS } from './outgoing/outgoing-refusals.ts';
import { firstOf, namesOf, SETTLE_REFUSALS } from './refusals.ts';

const CAPS = ['over_per_payment', 'over_daily', 'over_monthly', 'over_total'];
const WALLET = ['payer_unknown', 'balance_short', 'allowance_short'];
const TABS = ['over_tab_amount', 'over_tab_new_payer', 'over_tab_share', 'over_tab_vendor'];
const LAST = ['approval_required', 'over_hourly_cap'];

test('the rank of the refusals of a settle', () => {
  const first = ['quote_expired', 'delegate_unknown', 'delegate_paused', 'service_not_allowed'];
  expect(namesOf(SETTLE_REFUSALS)).toEqual([...first, ...CAPS, ...WALLET, ...TABS, ...LAST]);
});

test('the rank of the refusals of a payment to another vendor', () => {
  expect(namesOf(OUTGOING_REFUSALS)).toEqual([
    ...['delegate_unknown', 'delegate_paused', 'external_off', 'services_restricted'],
    ...['payee_not_allowed', 'origin_not_allowed'],
    ...CAPS,
    ...['too_many_open', 'too_many_open_of_payee', 'payee_paused'],
    ...WALLET,
    ...LAST,
  ]);
});

const textOf = ({ sql }: { sql: string }) => sql.replaceAll('"', '').replaceAll(/\s+/g, ' ').trim();

test('the conditions stand in rank order in the statement', () => {
  const { delegate_paused, over_total } = SETTLE_REFUSALS;
  expect(textOf(firstOf({ delegate_paused, over_total }))).toBe(
    "when delegate.paused then 'delegate_paused' when delegate.total_left < candidate.quote_amount then 'over_total'",
  );
});

test('a fresh sign-in is bound by no limit of its account; the other limits bind every payment', () => {
  const unlessFresh = (column: string) =>
    `case when candidate.is_fresh then null else delegate.${column} end as ${column}`;
  expect(textOf(capsOf)).toBe(
    `${unlessFresh('per_payment')}, delegate.daily, ${unlessFresh('daily_left')}, delegate.monthly, ` +
      'delegate.monthly_left as monthly_left, delegate.total, delegate.total_left as total_left',
  );
  expect(textOf(leastLeftOfCaps)).toBe('least(daily_left, monthly_left, total_left)');
});

const figures = { limit_micro: 10n, left_micro: -1n, decided_at: 5 };
const compared = { askedMicro: 3n, limitMicro: 10n, leftMicro: 0n, at: 5 };

test.each([
  ['over_daily', 'del_1', 'daily'],
  ['over_daily', null, 'account_daily'],
  ['over_per_payment', null, 'account_per_payment'],
  ['balance_short', null, 'balance'],
])('%s of %s is the limit %s, which leaves nothing if it was lowered', (decision, delegateId, name) => {
  expect(comparedOf({ decision, ...figures }, { delegateId, askedMicro: 3n })).toEqual({ name, ...compared });
});

test.each(['accepted', 'conflict', 'delegate_paused'])('%s compared no limit', (decision) => {
  const none = { decision, limit_micro: null, left_micro: null, decided_at: 5 };
  expect(comparedOf(none, { delegateId: null, askedMicro: 3n })).toBeNull();
});
