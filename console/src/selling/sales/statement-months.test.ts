import { expect, test } from '@jest/globals';
import type { Settlement } from '../../payments/sales-figures.ts';
import { monthsOf } from './statement-months.ts';

const payment = (id: string, created_at: string, more: Partial<Settlement> = {}): Settlement =>
  ({
    settlement_id: id,
    status: 'redeemed',
    chain_status: 'finalized',
    quote_amount: '1000000',
    fee_amount: '10000',
    net_amount: '990000',
    created_at,
    ...more,
  }) as Settlement;

test('payments are summed by UTC month, less their refunds, without what failed or was reversed', () => {
  const months = monthsOf(
    [
      payment('a', '2026-11-01T00:00:00.000Z'),
      payment('b', '2026-10-31T23:59:59.999Z'),
      payment('c', '2026-10-01T00:00:00.000Z', {
        fee_amount: '0',
        net_amount: '1000000',
        accrued_fee: '5000',
      }),
      payment('failed', '2026-10-02T00:00:00.000Z', { status: 'failed' }),
      payment('reversed', '2026-10-02T00:00:00.000Z', { chain_status: 'failed' }),
      payment('pending', '2026-10-02T00:00:00.000Z', { status: 'pending' }),
    ],
    new Map([
      ['b', 990_000n],
      ['failed', 1n],
    ]),
  );
  const november = { month: '2026-11', payments: 1, gross: 1_000_000n, fees: 10_000n };
  const october = { month: '2026-10', payments: 2, gross: 2_000_000n, fees: 10_000n };
  expect(months).toEqual([
    { ...november, refunded: 0n, net: 990_000n, accrued: 0n },
    { ...october, refunded: 990_000n, net: 995_000n, accrued: 5_000n },
  ]);
});
