import { expect, test } from '@jest/globals';
import type { RecordEntry } from '../../shared/contract/operator.ts';
import { conclusionsOf } from './conclusion.ts';

const at = (time: string, what: string, details: RecordEntry['details'] = {}): RecordEntry => ({
  at: `2026-11-28T${time}:00.000Z`,
  object_id: 'stl_1',
  what,
  details,
});
const accepted = at('14:06', 'attempt accepted', { amount: '2500000' });
const issued = at('14:07', 'settlement issued');
const state = (status: string, more: RecordEntry['details'] = {}) =>
  at('14:08', 'recorded state', { status, ...more });
const PAID = 'stl_1: paid 2.50 USDC at 2026-11-28 14:07 UTC. ';

test.each<[string, RecordEntry[], string]>([
  [
    'open',
    [accepted, state('pending')],
    'stl_1: 2.50 USDC asked at 2026-11-28 14:06 UTC. The payment is open',
  ],
  [
    'failed',
    [accepted, state('failed', { failure: 'x: y' })],
    'stl_1: 2.50 USDC asked at 2026-11-28 14:06 UTC. Not paid: no money moved (x: y).',
  ],
  [
    'paid',
    [accepted, issued, at('14:22', 'settlement expires if not redeemed'), state('issued')],
    `${PAID}Not redeemed: the vendor has not delivered, and can until 2026-11-28 14:22 UTC.`,
  ],
  [
    'expired',
    [accepted, issued, at('14:22', 'settlement expired'), state('expired')],
    `${PAID}Not redeemed in time (until 2026-11-28 14:22 UTC): the vendor has the money`,
  ],
  [
    'redeemed, and gone with a fork',
    [accepted, issued, at('14:08', 'settlement redeemed'), state('redeemed', { chain_status: 'failed' })],
    `${PAID}Redeemed, and a fork removed the payment for good`,
  ],
  [
    'made to a vendor elsewhere',
    [{ ...accepted, details: { amount: '2500000', rail: 'x402_out' } }, issued, state('issued')],
    `${PAID}Paid to a vendor outside of Quittance`,
  ],
  [
    'redeemed',
    [accepted, issued, at('14:08', 'settlement redeemed'), state('redeemed')],
    `${PAID}Redeemed at 2026-11-28 14:08 UTC`,
  ],
  [
    'captured for less than its ceiling',
    [accepted, at('14:06', 'capture decided', { amount: '480000' }), issued, state('redeemed')],
    'stl_1: paid 0.48 USDC at 2026-11-28 14:07 UTC. ',
  ],
  [
    'declined',
    [
      at('14:00', 'payment declined', {
        amount: '2500000',
        reason: 'daily',
        limit: '5000000',
        left: '1000000',
      }),
    ],
    'stl_1: not paid. 2.50 USDC were refused at 2026-11-28 14:00 UTC (over the daily limit; 1.00 USDC of 5.00 USDC were left); no money moved.',
  ],
  [
    'waiting for its owner',
    [at('14:00', 'approval requested'), at('14:10', 'approval expires')],
    'stl_1: not paid. The payment needs the approval of its owner',
  ],
])('the conclusion on a payment that is %s', (_name, entries, expected) => {
  const [conclusion = ''] = conclusionsOf(entries);
  expect(conclusion.slice(0, expected.length)).toBe(expected);
});

test('a refund is named, and records without a payment have no conclusion', () => {
  const [conclusion] = conclusionsOf([accepted, issued, state('redeemed', { refund_reserved: '1000' })]);
  expect(conclusion).toMatch(/ A refund is recorded\.$/);
  expect(conclusionsOf([at('14:00', 'transaction signed')])).toEqual([]);
});
