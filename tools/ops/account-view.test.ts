import { expect, test } from '@jest/globals';
import type { RecordEntry } from '../../shared/contract/operator.ts';
import {
  accountConclusions,
  holdsOf,
  paymentsTable,
  transfersTable,
  viewOf,
  walletsTable,
} from './account-view.ts';

const ACCOUNT = 'acct_1';
const PAYERS = new Set([ACCOUNT]);
const entry = (
  object_id: string,
  time: string,
  what: string,
  details: RecordEntry['details'] = {},
): RecordEntry => ({
  at: `2026-11-28T${time}:00.000Z`,
  object_id,
  what,
  details,
});
/** A payment of an account at a time, in a state. */
const payment = (
  id: string,
  time: string,
  status: string,
  more: RecordEntry['details'] = {},
  payer = ACCOUNT,
) => [
  entry(id, time, 'attempt accepted', { payer, amount: '2500000', service_id: '4d34f1b7-c3a6' }),
  ...(status === 'pending' || status === 'failed' ? [] : [entry(id, time, 'settlement issued')]),
  entry(id, time, 'recorded state', { status, ...more }),
];
const declined = entry('dcl_1', '14:09', 'payment declined', {
  payer: ACCOUNT,
  amount: '70000',
  reason: 'per_payment',
  limit: '60000',
  left: '60000',
});
const concluded = (...entries: RecordEntry[][]) => accountConclusions(viewOf(entries.flat(), PAYERS));

test('payments, sales and the rest are separated, the newest first', () => {
  const view = viewOf(
    [
      ...payment('stl_old', '10:00', 'redeemed'),
      ...payment('stl_new', '14:00', 'pending', { holds: '2500000' }),
      ...payment('stl_sold', '12:00', 'issued', {}, 'acct_2'),
      declined,
      entry('apr_1', '09:00', 'approval requested', { amount: '1' }),
      entry('apr_1', '09:10', 'approval expires'),
      entry('dep_1', '08:00', 'deposit created', { promised: '50000000' }),
      entry('dep_1', '08:01', 'deposit completed', { amount: '49000000' }),
      entry('wal_1', '07:00', 'wallet', { owner: 'Addr' }),
      entry('wal_1', '15:00', 'wallet on chain', {
        balance: '1000000',
        allowance: '0',
        delegation: 'revoked',
      }),
      entry('mail 7', '15:00', 'mail waits', { kind: 'payment_declined', attempts: 2 }),
      entry('sev_1', '06:00', 'security event', { kind: 'signed_in' }),
    ],
    PAYERS,
  );
  expect(paymentsTable(view.payments).slice(1)).toEqual([
    ['2026-11-28 14:09', 'dcl_1', '0.07 USDC', '', expect.stringMatching(/^refused: /)],
    ['2026-11-28 14:00', 'stl_new', '2.50 USDC', '4d34f1b7…', 'open'],
    ['2026-11-28 10:00', 'stl_old', '2.50 USDC', '4d34f1b7…', 'redeemed'],
    ['2026-11-28 09:00', 'apr_1', '0.000001 USDC', '', 'waits for its approval'],
  ]);
  expect(paymentsTable(view.sales).slice(1)).toEqual([
    ['2026-11-28 12:00', 'stl_sold', '2.50 USDC', '4d34f1b7…', 'paid, not redeemed'],
  ]);
  expect(transfersTable(view.transfers).slice(1)).toEqual([
    ['2026-11-28 08:00', 'dep_1', '49.00 USDC', 'deposit completed'],
  ]);
  expect(walletsTable(view.wallets).slice(1)).toEqual([
    ['wal_1', 'Addr', '1.00', '0.00 revoked', '11-28 15:00'],
  ]);
  expect([view.mails.map(({ id }) => id), view.events.map(({ id }) => id)]).toEqual([['mail 7'], ['sev_1']]);
  expect(holdsOf(view.payments)).toEqual({ payments: 1, amount: 2_500_000n });
});

test('an authorization shows what was paid of its ceiling, and never the ceiling as paid', () => {
  const captured = (id: string, more: RecordEntry[], state: RecordEntry['details']) => [
    entry(id, '10:00', 'attempt accepted', { payer: ACCOUNT, amount: '1000000' }),
    ...more,
    entry(id, '10:02', 'recorded state', state),
  ];
  const decided = (id: string) => entry(id, '10:01', 'capture decided', { amount: '15000', fee: '10000' });
  const view = viewOf(
    [
      captured('stl_open', [], { status: 'authorized', chain_status: 'none', holds: '1000000' }),
      captured('stl_busy', [decided('stl_busy')], { status: 'capturing', chain_status: 'pending' }),
      captured('stl_paid', [decided('stl_paid'), entry('stl_paid', '10:02', 'settlement issued')], {
        status: 'redeemed',
        chain_status: 'finalized',
      }),
      captured('stl_gone', [decided('stl_gone'), entry('stl_gone', '10:02', 'settlement issued')], {
        status: 'redeemed',
        chain_status: 'failed',
      }),
      captured('stl_void', [entry('stl_void', '10:01', 'authorization voided', { used: '480' })], {
        status: 'voided',
        chain_status: 'none',
      }),
    ].flat(),
    PAYERS,
  );
  const shown = paymentsTable(view.payments)
    .slice(1)
    .map(([, id, amount, , state]) => [id, amount, state])
    .toSorted();
  expect(shown).toEqual([
    ['stl_busy', '0.00 of 1.00 USDC', 'capturing'],
    ['stl_gone', '0.00 of 1.00 USDC', 'reversed, not paid'],
    ['stl_open', '0.00 of 1.00 USDC', 'authorized'],
    ['stl_paid', '0.015 of 1.00 USDC', 'redeemed'],
    ['stl_void', '0.00 of 1.00 USDC', 'ended without a payment'],
  ]);
});

test('the newest payment is concluded, and each earlier one that was not delivered', () => {
  expect(
    concluded(
      payment('stl_3', '14:00', 'redeemed'),
      payment('stl_2', '13:00', 'redeemed'),
      payment('stl_1', '12:00', 'expired'),
    ),
  ).toEqual([
    expect.stringMatching(/^stl_3: paid 2\.50 USDC at 2026-11-28 14:00 UTC\. Redeemed/),
    expect.stringMatching(/^stl_1: paid .* Not redeemed in time: the vendor has the money/),
  ]);
  expect(concluded([declined])[0]).toMatch(
    /0\.07 USDC were refused .*0\.06 USDC of 0\.06 USDC were left\); no money moved/,
  );
});

test('an account without payments is concluded so, and a vendor what it has not delivered', () => {
  expect(concluded()).toEqual([expect.stringMatching(/^No payment in this time/)]);
  const sales = ['11:00', '12:00'].map((time) => payment(`stl_${time}`, time, 'issued', {}, 'acct_2'));
  expect(concluded(...sales)[1]).toMatch(
    /^As a vendor: stl_12:00: paid .* 1 more sale not delivered: see below\.$/,
  );
});
