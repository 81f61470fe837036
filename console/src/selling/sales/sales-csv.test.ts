import { expect, test } from '@jest/globals';
import type { Quote, Sale, Settlement, Stage } from '../../payments/sales-figures.ts';
import type { Refund } from '../../payments/settlement-history.ts';
import { salesCsv } from './sales-csv.ts';

const sale = (id: string, stage: Stage, settlement: Partial<Settlement> | null): Sale => ({
  id: `q_${id}`,
  at: '2026-11-29T10:00:00.000Z',
  serviceId: 's',
  stage,
  quote: { quote_id: `q_${id}`, quote_amount: '50000000000' } as Quote,
  settlement:
    settlement === null
      ? null
      : ({
          settlement_id: `stl_${id}`,
          quote_id: `q_${id}`,
          status: 'redeemed',
          chain_status: 'finalized',
          rail: 'quittance',
          quote_amount: '1000000',
          fee_amount: '10000',
          net_amount: '990000',
          scope: { resource: 'https://shop.example.com/report' },
          tx_hash: `tx_${id}`,
          created_at: '2026-11-29T10:00:00.000Z',
          ...settlement,
        } as Settlement),
});
const tab = { max_amount: '1000000', used: '15000' } as NonNullable<Settlement['authorization']>;

test('the file has what was paid, and each of its columns can be summed', () => {
  const sales = [
    sale('open', 'quoted', null),
    sale('over', 'unpaid', null),
    sale('void', 'voided', { status: 'voided', authorization: tab }),
    sale('tab', 'delivered', {
      authorization: tab,
      quote_amount: '15000',
      net_amount: '5000',
    }),
    sale('x', 'delivered', {
      rail: 'x402',
      quote_id: null,
      scope: null,
      resource: '/weather',
      payer_address: 'Ai4g',
      fee_amount: '0',
      net_amount: '1000000',
      accrued_fee: '5000',
    }),
    sale('back', 'delivered', {}),
  ];
  const refund = {
    refund_id: 'ref_1',
    settlement_id: 'stl_back',
    amount: '400000',
    status: 'finalized',
    created_at: '2026-12-02T08:00:00.000Z',
    tx_hash: 'tx_refund',
  } as Refund;
  const elsewhere = { ...refund, refund_id: 'ref_2', settlement_id: 'stl_of_another_vendor' };
  const [head, ...rows] = salesCsv(sales, [refund, elsewhere], () => 'Weather API').map((line) =>
    line.trimEnd().slice(1, -1).split('","'),
  );
  const column = (name: string) => rows.map((row) => row[head!.indexOf(name)]);
  expect(column('type')).toEqual(['sale', 'sale', 'sale', 'refund']);
  expect(column('gross_usdc')).toEqual(['0.015', '1.00', '1.00', '']);
  expect(column('used_usdc')).toEqual(['0.015', '', '', '']);
  expect(column('fee_usdc')).toEqual(['0.01', '0.00', '0.01', '']);
  expect(column('billed_fee_usdc')).toEqual(['0.00', '0.005', '0.00', '']);
  expect(column('net_usdc').map(Number)).toEqual([0.005, 0.995, 0.99, -0.4]);
  expect(column('item')).toEqual([
    'https://shop.example.com/report',
    '/weather',
    'https://shop.example.com/report',
    'https://shop.example.com/report',
  ]);
  expect(column('payer')[1]).toBe('Ai4g');
  expect([column('at')[3], column('tx_hash')[3]]).toEqual(['2026-12-02T08:00:00.000Z', 'tx_refund']);
});
