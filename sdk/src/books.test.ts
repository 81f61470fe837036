import { expect, test } from '@jest/globals';
import { amountsOf, type Booking, bookingsOf } from './books.ts';
import type { Payment } from './payment.ts';

type Refund = NonNullable<Booking['refund']>;

const settlement = (id: string, confirmed_at: string | null, more: Partial<Payment> = {}) =>
  ({
    settlement_id: id,
    status: 'redeemed',
    chain_status: 'finalized',
    quote_amount: '1000000',
    fee_amount: '10000',
    net_amount: '990000',
    created_at: '2026-10-31T23:59:58.000Z',
    confirmed_at,
    ...more,
  }) as Payment;
const refund = (id: string, settlement_id: string, confirmed_at: string | null, more = {}) =>
  ({ refund_id: id, settlement_id, amount: '400000', status: 'finalized', confirmed_at, ...more }) as Refund;

const sales = [
  settlement('a', '2026-10-31T23:59:59.999Z'),
  // Created in October, captured in November.
  settlement('b', '2026-11-01T00:00:00.000Z', { accrued_fee: '5000' }),
  settlement('c', '2026-12-05T10:00:00.000Z'),
  settlement('void', null, { status: 'voided', chain_status: 'none' }),
  settlement('held', null, { status: 'authorized', chain_status: 'none' }),
  settlement('under way', null, { status: 'pending', chain_status: 'pending' }),
  settlement('reversed', '2026-11-02T00:00:00.000Z', { chain_status: 'failed' }),
];
const refunds = [
  refund('of October in November', 'a', '2026-11-30T23:59:59.999Z'),
  refund('of November in December', 'b', '2026-12-01T00:00:00.000Z'),
  refund('under way', 'b', null, { status: 'submitted' }),
  refund('failed after a fork', 'b', '2026-12-01T00:00:00.000Z', { status: 'failed' }),
];
const span = (from: string, until: string) => ({ from: Date.parse(from), until: Date.parse(until) });
const nameOf = ({ settlement: { settlement_id }, refund: given }: Booking) =>
  given?.refund_id ?? settlement_id;

test.each([
  ['October', span('2026-10-01', '2026-11-01'), ['a']],
  ['November', span('2026-11-01', '2026-12-01'), ['of October in November', 'b']],
  ['December', span('2026-12-01', '2027-01-01'), ['c', 'of November in December']],
])('%s has what was paid and what was refunded in it, and nothing else', (_month, of, expected) => {
  expect(bookingsOf(sales, refunds, of).map(nameOf)).toEqual(expected);
});

test('however time is cut into spans, each movement is in one of them', () => {
  const whole = span('2026-10-01', '2027-01-01');
  const all = bookingsOf(sales, refunds, whole);
  expect(all).toHaveLength(5);
  for (const cuts of [1, 2, 7, 92, 2208]) {
    const length = (whole.until - whole.from) / cuts;
    const parts = Array.from({ length: cuts }, (_, at) =>
      bookingsOf(sales, refunds, {
        from: whole.from + at * length,
        until: whole.from + (at + 1) * length,
      }),
    );
    expect(parts.reverse().flat()).toEqual(all);
  }
  const net = all.reduce((sum, booking) => sum + amountsOf(booking).net, 0n);
  expect(net).toBe(3n * 990_000n - 5_000n - 2n * 400_000n);
});
