import { expect, test } from '@jest/globals';
import type { Payment } from '../../../sdk/src/payment.ts';
import { amountText, heldText } from './payment.ts';

const payment = (more: Partial<Payment> = {}) =>
  ({
    status: 'redeemed',
    chain_status: 'finalized',
    rail: 'quittance',
    quote_amount: '50000',
    redeem_expires_at: '2026-11-29T12:15:00.000Z',
    ...more,
  }) as Payment;
const authorization = { max_amount: '1000000', used: '480' } as NonNullable<Payment['authorization']>;

test.each<[string, Partial<Payment>, amount: string, held: string]>([
  ['a payment', {}, '0.05 USDC', ''],
  ['a payment under way', { status: 'pending', chain_status: 'pending' }, '0.05 USDC', ''],
  ['a failed payment', { status: 'failed', chain_status: 'failed' }, '0.00 USDC', ''],
  ['a reversed payment', { chain_status: 'failed' }, '0.00 USDC', ''],
  ['an open authorization', { status: 'authorized', authorization }, '0.00 USDC', '1.00 USDC'],
  [
    'one that is being captured',
    { status: 'capturing', authorization, quote_amount: '15000' },
    '0.00 USDC',
    '0.015 USDC',
  ],
  ['a captured one', { authorization, quote_amount: '15000' }, '0.015 USDC', '0.985 USDC released'],
  [
    'one that was used to its ceiling',
    { authorization, quote_amount: '1000000' },
    '1.00 USDC',
    '0.00 USDC released',
  ],
  ['a void', { status: 'voided', authorization, quote_amount: '1000000' }, '0.00 USDC', '1.00 USDC released'],
  [
    'a capture that failed',
    { status: 'failed', chain_status: 'failed', authorization, quote_amount: '15000' },
    '0.00 USDC',
    '1.00 USDC released',
  ],
])('%s shows what it moves and what it holds', (_name, more, amount, held) => {
  expect([amountText(payment(more)), heldText(payment(more))]).toEqual([amount, held]);
});
