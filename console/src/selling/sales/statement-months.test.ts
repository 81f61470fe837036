import { expect, test } from '@jest/globals';
import type { Booking } from '../../../../sdk/src/books.ts';
import type { Settlement } from '../../payments/sales-figures.ts';
import type { Refund } from '../../payments/settlement-history.ts';
import { monthsOf } from './statement-months.ts';

const payment = (at: string, more: Partial<Settlement> = {}): Booking => ({
  at,
  settlement: { quote_amount: '1000000', fee_amount: '10000', net_amount: '990000', ...more } as Settlement,
  refund: null,
});
const refund = (at: string, amount: string): Booking => ({
  ...payment(at),
  refund: { amount } as Refund,
});

test('payments and refunds are summed by their own UTC month', () => {
  const months = monthsOf([
    refund('2026-12-01T00:00:00.000Z', '990000'),
    payment('2026-11-01T00:00:00.000Z'),
    payment('2026-10-31T23:59:59.999Z'),
    payment('2026-10-01T00:00:00.000Z', { fee_amount: '0', net_amount: '1000000', accrued_fee: '5000' }),
    refund('2026-10-31T23:59:59.999Z', '1'),
  ]);
  const december = { month: '2026-12', payments: 0, gross: 0n, fees: 0n };
  const november = { month: '2026-11', payments: 1, gross: 1_000_000n, fees: 10_000n };
  const october = { month: '2026-10', payments: 2, gross: 2_000_000n, fees: 10_000n };
  expect(months).toEqual([
    { ...december, refunded: 990_000n, net: -990_000n, accrued: 0n },
    { ...november, refunded: 0n, net: 990_000n, accrued: 0n },
    { ...october, refunded: 1n, net: 1_984_999n, accrued: 5_000n },
  ]);
});
