import { expect, test } from '@jest/globals';
import type { Booking } from '../../../../sdk/src/books.ts';
import type { Settlement } from '../../payments/sales-figures.ts';
import type { Refund } from '../../payments/settlement-history.ts';
import { salesCsv } from './sales-csv.ts';

const AT = '2026-11-29T10:00:00.000Z';
const settlement = (id: string, more: Partial<Settlement> = {}) =>
  ({
    settlement_id: `stl_${id}`,
    quote_id: `q_${id}`,
    service_id: 's',
    service_name: 'Name when it was priced',
    status: 'redeemed',
    chain_status: 'finalized',
    rail: 'quittance',
    quote_amount: '1000000',
    fee_amount: '10000',
    net_amount: '990000',
    scope: { resource: 'https://shop.example.com/report' },
    payer_address: 'Buyer',
    tx_hash: `tx_${id}`,
    ...more,
  }) as Settlement;
const sale = (id: string, more: Partial<Settlement> = {}): Booking => ({
  at: AT,
  settlement: settlement(id, more),
  refund: null,
});

test('the file has what was paid and refunded, and each of its columns can be summed', () => {
  const bookings: Booking[] = [
    sale('tab', {
      authorization: { max_amount: '1000000', used: '15000' } as NonNullable<Settlement['authorization']>,
      quote_amount: '15000',
      net_amount: '5000',
    }),
    sale('x', {
      rail: 'x402',
      quote_id: null,
      scope: null,
      resource: '/weather',
      payer_address: 'Ai4g',
      fee_amount: '0',
      net_amount: '1000000',
      accrued_fee: '5000',
    }),
    sale('gone', { service_id: 'deleted' }),
    {
      at: '2026-12-02T08:00:00.000Z',
      settlement: settlement('back'),
      refund: {
        refund_id: 'ref_1',
        settlement_id: 'stl_back',
        amount: '400000',
        status: 'finalized',
        tx_hash: 'tx_refund',
      } as Refund,
    },
  ];
  const nameOf = (id: string) => (id === 's' ? 'Weather API' : undefined);
  const [head, ...rows] = salesCsv(bookings, { now: Date.parse(AT), nameOf }).map((line) =>
    line.trimEnd().slice(1, -1).split('","'),
  );
  const column = (name: string) => rows.map((row) => row[head!.indexOf(name)]);
  expect(column('at')).toEqual([AT, AT, AT, '2026-12-02T08:00:00.000Z']);
  expect(column('type')).toEqual(['sale', 'sale', 'sale', 'refund']);
  expect(column('state')).toEqual(['delivered', 'delivered', 'delivered', 'finalized']);
  expect(column('service_name')).toEqual([
    'Weather API',
    'Weather API',
    'Name when it was priced',
    'Weather API',
  ]);
  expect(column('ceiling_usdc')).toEqual(['1.00', '', '', '']);
  expect(column('used_usdc')).toEqual(['0.015', '', '', '']);
  expect(column('gross_usdc')).toEqual(['0.015', '1.00', '1.00', '']);
  expect(column('fee_usdc')).toEqual(['0.01', '0.00', '0.01', '']);
  expect(column('billed_fee_usdc')).toEqual(['0.00', '0.005', '0.00', '']);
  expect(column('refund_usdc')).toEqual(['', '', '', '0.40']);
  expect(column('net_usdc')).toEqual(['0.005', '0.995', '0.99', '-0.40']);
  expect(column('item')).toEqual([
    'https://shop.example.com/report',
    '/weather',
    'https://shop.example.com/report',
    'https://shop.example.com/report',
  ]);
  expect(column('payer')).toEqual(['Buyer', 'Ai4g', 'Buyer', 'Buyer']);
  expect(column('tx_hash')).toEqual(['tx_tab', 'tx_x', 'tx_gone', 'tx_refund']);
});
