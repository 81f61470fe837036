import { expect, test } from '@jest/globals';
import type { Payment } from '../../../sdk/src/payment.ts';
import { paymentOf, paymentShape } from './shapes.ts';

const payment = (more: Partial<Payment> = {}) =>
  ({
    settlement_id: 'stl_1',
    status: 'redeemed',
    chain_status: 'finalized',
    rail: 'quittance',
    service_name: 'Weather API',
    quote_amount: '50000',
    fee_amount: '10000',
    scope: { resource: 'https://pay', payment_link: { title: 'Harbour tour' } },
    tx_hash: null,
    created_at: '2026-11-29T12:00:00.000Z',
    failure: null,
    ...more,
  }) as Payment;
const authorization = { max_amount: '1000000', used: '480' } as NonNullable<Payment['authorization']>;

const extension = {
  ...{ extension_id: 'ext_0', quote_id: 'q_0', amount: '500000', created_at: '2026-01-01T00:00:00.000Z' },
  payment_attempt_id: 'more',
};

test.each<[string, Partial<Payment>, object]>([
  ['a payment', {}, { amount: '50000', amount_usdc: '0.05', max_amount: null, fee: '10000' }],
  [
    'an open authorization',
    { status: 'authorized', authorization, quote_amount: '1000000' },
    { amount: '0', max_amount: '1000000', max_amount_usdc: '1.00', fee: '0' },
  ],
  [
    'a void',
    { status: 'voided', authorization, quote_amount: '1000000' },
    { amount: '0', amount_usdc: '0.00', max_amount: '1000000', fee: '0' },
  ],
  [
    'a captured authorization',
    { authorization, quote_amount: '15000' },
    { amount: '15000', max_amount: '1000000', fee: '10000' },
  ],
  [
    'an extended authorization',
    { status: 'authorized', authorization, quote_amount: '1000000', extensions: [extension] },
    { amount: '0', extensions: [{ extension_id: 'ext_0', amount: '500000' }] },
  ],
])('%s has the amount that it pays, and what was bought', (_name, more, expected) => {
  const shown = paymentOf(payment(more));
  expect(paymentShape.parse(shown)).toMatchObject({ ...expected, item: 'Harbour tour' });
});
