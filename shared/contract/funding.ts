import { z } from 'zod';
import { Deposit, deposits } from './funding.deposits.ts';
import { Refund, refunds } from './funding.refunds.ts';
import { Withdrawal, withdrawals } from './funding.withdrawals.ts';
import { operatorOperations } from './operator.ts';
import {
  AccountId,
  DelegateId,
  MicroUsdc,
  MicroUsdcOrZero,
  ServiceId,
  Timestamp,
  TransactionHash,
  WalletId,
} from './primitives.ts';
import { internalOperation, operation, service } from './service.ts';

/**
 * A transfer of this service as the chain has it: told when it is confirmed, when it is final, and
 * when it was confirmed and then undone by a fork for good. Every telling holds everything, so that
 * they may come in any order.
 */
const Moved = z.strictObject({
  type: z.enum(['deposit', 'withdrawal', 'refund', 'dev_fund']),
  object_id: z.string().max(64),
  status: z.enum(['confirmed', 'finalized', 'reversed']),
  tx_hash: TransactionHash,
  amount: MicroUsdc,
  /** Whose money left; null when it came from outside. */
  from_account_id: AccountId.nullable(),
  /** Whose wallet it reached; null when it went outside. */
  to_account_id: AccountId.nullable(),
  /** Of a refund: the service that was paid and the delegate that had paid it. */
  service_id: ServiceId.nullable(),
  delegate_id: DelegateId.nullable(),
  /** When it was first seen confirmed; the same in every telling. */
  created_at: Timestamp,
});
export type Moved = z.infer<typeof Moved>;

/** Of one call of listMoved. */
export const MAX_MOVED_LISTED = 500;

export const funding = service({
  name: 'funding',
  operations: {
    devFund: operation({
      summary: 'Put test USDC into a wallet',
      description: 'Test environment only, at most 10,000 USDC a call.',
      http: { method: 'POST', path: '/v1/dev/fund', status: 200 },
      access: ['jwt'],
      idempotency: true,
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
  internal: {
    ...operatorOperations,
    listMoved: internalOperation({
      summary:
        'Every transfer that was ever confirmed, as it stands now, in the order of object_id: for a projection that is built anew',
      callers: ['wallet'],
      input: z.strictObject({
        after: z.string().max(64).nullable(),
        limit: z.int().min(1).max(MAX_MOVED_LISTED),
      }),
      output: z.array(Moved),
    }),
  },
  events: {
    moved: Moved,
    /**
     * The status has changed: the object as its owner reads it then. The answer of the call that
     * made it is not told.
     */
    withdrawalChanged: z.strictObject({ account_id: AccountId, withdrawal: Withdrawal }),
    refundChanged: z.strictObject({
      vendor_account_id: AccountId,
      payer_account_id: AccountId,
      refund: Refund,
    }),
    /** Without the provider's page: whoever has its address pays there. */
    depositChanged: z.strictObject({ account_id: AccountId, deposit: Deposit.omit({ redirect_url: true }) }),
  },
  jobs: {},
  consumes: [
    'chain-submitter.fundProgressed',
    'chain-submitter.withdrawalProgressed',
    'chain-submitter.refundProgressed',
  ],
});
