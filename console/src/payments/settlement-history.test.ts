import { expect, test } from '@jest/globals';
import type { Settlement } from './sales-figures.ts';
import { type Event, type Refund, refundsOf, storyOf } from './settlement-history.ts';

const at = (minute: number) => `2026-11-21T12:${String(minute).padStart(2, '0')}:00.000Z`;
const settlement = (more: Partial<Settlement> = {}) =>
  ({
    settlement_id: 'stl_a',
    status: 'issued',
    chain_status: 'finalized',
    rail: 'quittance',
    quote_id: 'q_a',
    service_id: 's',
    quote_amount: '1000000',
    fee_amount: '10000',
    net_amount: '990000',
    scope: null,
    tx_hash: null,
    superseded_tx_hashes: [],
    created_at: at(1),
    redeem_expires_at: at(20),
    redeemed_at: null,
    failure: null,
    ...more,
  }) as Settlement;
const incoming = (more: Partial<Settlement> = {}) =>
  settlement({ rail: 'x402', quote_id: null, redeem_expires_at: null, ...more });
const event = (type: Event['type'], minute: number): Event => ({
  event_id: `evt_${minute}`,
  type,
  object_id: 'stl_a',
  created_at: at(minute),
  data: {},
});
const refund = (status: Refund['status'], amount: string, minute = 30): Refund => ({
  refund_id: `ref_${status}`,
  status,
  settlement_id: 'stl_a',
  service_id: 's',
  payout_address: '',
  amount,
  destination_address: '',
  destination_token_account: '',
  tx_hash: null,
  failure: null,
  created_at: at(minute),
  confirmed_at: null,
  pending_until: at(59),
  reason: null,
});
const kindsOf = (entries: ReturnType<typeof storyOf>) =>
  entries.map((e) => `${e.kind} ${e.at.slice(14, 16)}`);

test.each([
  ['under way', settlement({ status: 'pending', redeem_expires_at: null }), [], ['accepted 01']],
  [
    'confirmed, and its event has not arrived yet',
    settlement({ chain_status: 'confirmed' }),
    [],
    ['accepted 01', 'issued 01'],
  ],
  [
    'delivered before the event of its payment was written down',
    settlement({ status: 'redeemed', redeemed_at: at(3) }),
    [event('settlement.issued', 4)],
    ['accepted 01', 'issued 03', 'redeemed 03'],
  ],
  [
    'delivered, with finality before and after',
    settlement({ status: 'redeemed', redeemed_at: at(3) }),
    [event('settlement.finalized', 4), event('settlement.issued', 2)],
    ['accepted 01', 'issued 02', 'redeemed 03', 'finalized 04'],
  ],
  ['not redeemed', settlement({ status: 'expired' }), [], ['accepted 01', 'issued 01', 'lapsed 20']],
  [
    'never paid',
    settlement({ status: 'failed', chain_status: 'failed', redeem_expires_at: null }),
    [event('settlement.failed', 2)],
    ['accepted 01', 'failed 02'],
  ],
  [
    'delivered, and reversed on chain',
    settlement({ status: 'redeemed', redeemed_at: at(3), chain_status: 'failed' }),
    [event('settlement.reversed', 9)],
    ['accepted 01', 'issued 01', 'redeemed 03', 'reversed 09'],
  ],
  ['paid by x402, and not delivered', incoming(), [], ['accepted 01', 'issued 01']],
  [
    'delivered for x402',
    incoming({ status: 'redeemed', redeemed_at: at(3) }),
    [event('settlement.issued', 2)],
    ['accepted 01', 'issued 02', 'redeemed 03'],
  ],
  [
    'never paid by x402',
    incoming({ status: 'failed', chain_status: 'failed' }),
    [event('settlement.failed', 2)],
    ['accepted 01', 'failed 02'],
  ],
  [
    'paid by x402, and reversed on chain',
    incoming({ status: 'failed', chain_status: 'failed' }),
    [event('settlement.issued', 2), event('settlement.failed', 9)],
    ['accepted 01', 'issued 02', 'reversed 09'],
  ],
] as const)('%s', (_what, of, events, expected) =>
  expect(kindsOf(storyOf(of, undefined, events, []))).toEqual(expected),
);

test('refunds are listed in their order', () => {
  const entries = storyOf(settlement({ status: 'expired' }), undefined, [], [refund('confirmed', '1', 5)]);
  expect(kindsOf(entries)).toEqual(['accepted 01', 'issued 01', 'refunded 05', 'lapsed 20']);
});

test('parts of the net: refunded, reserved, and left; a refund that ended without effect has no part', () => {
  const all = (['finalized', 'confirmed', 'submitted', 'pending_signature'] as const).map((status) =>
    refund(status, '100'),
  );
  const none = (['failed', 'cancelled', 'expired'] as const).map((status) => refund(status, '990000'));
  expect(refundsOf(990_000n, [...all, ...none])).toEqual({ refunded: 200n, reserved: 200n, left: 989_600n });
});

test('each extension of an authorization is in its history', () => {
  const authorization = {
    mode: 'usage',
    max_amount: '1100000',
    used: '0',
    left: '1100000',
    unit_price: null,
    least_capture: '10001',
    capture_ends_at: at(20),
    at_risk_at: null,
    voided_at: null,
  } as const;
  const extended = (id: string, minute: number) => ({
    ...{ extension_id: id, quote_id: 'q_more', amount: '50000', created_at: at(minute) },
  });
  const extensions = [extended('ext_b', 3), extended('ext_c', 4)];
  const tab = settlement({ status: 'authorized', chain_status: 'none', authorization, extensions });
  const story = storyOf(tab, undefined, [], []);
  expect(kindsOf(story)).toEqual(['authorized 01', 'extended 03', 'extended 04']);
  expect(story[1]).toMatchObject({ added: '50000' });
});
