import { expect, test } from '@jest/globals';
import { type Settlement, stageOf } from '../../../console/src/payments/sales-figures.ts';
import { STAGE_WORDS } from '../../../console/src/payments/state-words.ts';
import { amountText, heldText, stateWord } from './payment.ts';

const NOW = Date.parse('2026-11-29T12:00:00.000Z');
const payment = (more: Partial<Settlement> = {}) =>
  ({
    status: 'redeemed',
    chain_status: 'finalized',
    rail: 'quittance',
    quote_amount: '50000',
    redeem_expires_at: '2026-11-29T12:15:00.000Z',
    ...more,
  }) as Settlement;
const authorization = { max_amount: '1000000', used: '480' } as NonNullable<Settlement['authorization']>;

const STATUSES = [
  'pending',
  'authorized',
  'capturing',
  'issued',
  'redeemed',
  'expired',
  'voided',
  'merged',
  'failed',
] as const;
const RAILS = ['quittance', 'x402', 'mpp', 'x402_out', 'mpp_out'] as const;

test('each state has the word of the console', () => {
  for (const status of STATUSES)
    for (const rail of RAILS)
      for (const chain_status of ['none', 'pending', 'confirmed', 'finalized', 'failed'] as const)
        for (const redeem_expires_at of [null, '2026-11-29T11:59:00.000Z', '2026-11-29T12:15:00.000Z']) {
          // A payment without a window does not expire.
          if (status === 'expired' && rail !== 'quittance') continue;
          const each = payment({ status, rail, chain_status, redeem_expires_at });
          expect([each, stateWord(each, NOW)]).toEqual([each, STAGE_WORDS[stageOf(null, each, NOW)][0]]);
        }
});

test.each<[string, Partial<Settlement>, amount: string, held: string]>([
  ['a payment', {}, '0.05 USDC', ''],
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
  ['an extension', { status: 'merged', quote_amount: '500000' }, '+0.50 USDC', ''],
])('%s shows what it moves and what it holds', (_name, more, amount, held) => {
  expect([amountText(payment(more)), heldText(payment(more))]).toEqual([amount, held]);
});
