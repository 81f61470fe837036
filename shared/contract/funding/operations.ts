import { z } from 'zod';
import { MicroUsdc, MicroUsdcOrZero, TransactionHash, WalletId } from '../primitives.ts';
import { operation } from '../service.ts';
import { deposits } from './deposits.ts';
import { refunds } from './refunds.ts';
import { withdrawals } from './withdrawals.ts';

/** The public operations of funding. */
export const operations = {
  devFund: operation({
    summary: 'Put test USDC into a wallet',
    description: 'Test environment only. At most 10,000 USDC per call.',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/dev/fund', status: 200 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    idempotency: true,
    onlyIn: ['test'],
    withoutRedis: 'refuse',
    timeoutSeconds: 20,
    body: z
      .strictObject({
        wallet_id: WalletId,
        amount: MicroUsdc.describe('How much, at most "10000000000"'),
      })
      .meta({ id: 'DevFundRequest' }),
    output: z
      .strictObject({
        wallet_id: WalletId,
        amount: MicroUsdc.describe('What arrived'),
        tx_hash: TransactionHash.describe('The transaction on chain'),
        balance: MicroUsdcOrZero.describe('The USDC in the wallet afterwards'),
      })
      .meta({ id: 'DevFunding' }),
    errors: ['not_found', 'conflict', 'payment_failed'],
  }),
  ...deposits,
  ...withdrawals,
  ...refunds,
};
