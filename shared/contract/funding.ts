import { z } from 'zod';
import { deposits } from './funding.deposits.ts';
import { refunds } from './funding.refunds.ts';
import { withdrawals } from './funding.withdrawals.ts';
import { MicroUsdc, MicroUsdcOrZero, TransactionHash, WalletId } from './primitives.ts';
import { operation, service } from './service.ts';

export const funding = service({
  name: 'funding',
  operations: {
    devFund: operation({
      summary: 'Put test USDC into a wallet',
      description: 'Test environment only, at most 10,000 USDC a call.',
      http: { method: 'POST', path: '/v1/dev/fund', status: 200 },
      access: ['jwt'],
      onlyIn: ['test'],
      withoutRedis: 'refuse',
      timeoutSeconds: 20,
      body: z.strictObject({ wallet_id: WalletId, amount: MicroUsdc }),
      output: z.strictObject({
        wallet_id: WalletId,
        amount: MicroUsdc,
        tx_hash: TransactionHash,
        balance: MicroUsdcOrZero,
      }),
      errors: ['not_found', 'conflict', 'payment_failed'],
    }),
    ...deposits,
    ...withdrawals,
    ...refunds,
  },
  internal: {},
  events: {},
  jobs: {},
  consumes: [
    'chain-submitter.fundProgressed',
    'chain-submitter.withdrawalProgressed',
    'chain-submitter.refundProgressed',
  ],
});
