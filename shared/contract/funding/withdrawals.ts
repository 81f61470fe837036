import { z } from 'zod';
import { extended } from '../extended.ts';
import {
  confirmedAtOrNull,
  createdAt,
  failureOrNull,
  MicroUsdc,
  page,
  pageQuery,
  SolanaAddress,
  signedTransaction,
  Timestamp,
  txHashOrNull,
  WalletId,
  WireTransaction,
  WithdrawalId,
} from '../primitives.ts';
import { operation } from '../service.ts';

/** The fields of every transfer that its owner signs. */
export const transferFields = {
  amount: MicroUsdc.describe('What the destination receives'),
  destination_address: SolanaAddress.describe('The wallet or token account that receives it'),
  destination_token_account: SolanaAddress.describe('The token account that receives it'),
  tx_hash: txHashOrNull,
  failure: failureOrNull,
  created_at: createdAt,
  confirmed_at: confirmedAtOrNull,
  pending_until: Timestamp.meta({
    description: 'Until then it can be signed and submitted. Afterwards it is expired',
  }),
};
export const preparedFields = {
  transaction: WireTransaction.meta({
    description: 'To be signed by the owner. Every signature slot is empty',
  }),
  expires_at: Timestamp.meta({
    description: 'When the transaction expires, after 60 to 90 s. Then have it prepared again',
  }),
};
/** Submits a signed transfer: check, simulate, co-sign (10 s), wait for the confirmation (15 s). */
export const submitting = {
  timeoutSeconds: 29,
  body: signedTransaction,
  errors: ['not_found', 'conflict', 'insufficient_funds', 'payment_failed'],
  money: 'moves',
} as const;

const WithdrawalStatus = z
  .enum(['pending_approval', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired'])
  .meta({
    id: 'WithdrawalStatus',
    description:
      'pending_approval: waits for the owner’s signature. submitted: sent to the chain. confirmed, finalized: the money has ' +
      'arrived. failed, cancelled, expired: no money moved and none will',
  });

export const Withdrawal = z
  .strictObject({
    withdrawal_id: WithdrawalId,
    status: WithdrawalStatus,
    wallet_id: WalletId,
    ...transferFields,
  })
  .meta({ id: 'Withdrawal' });
const PreparedWithdrawal = extended(Withdrawal, preparedFields, { id: 'PreparedWithdrawal' });

const byId = z.strictObject({ withdrawal_id: WithdrawalId });

export const withdrawals = {
  createWithdrawal: operation({
    summary: 'Prepare a withdrawal from a wallet',
    description:
      'The destination is a wallet or a token account of the mint. No money moves until the withdrawal is ' +
      'approved: sign the transaction and submit it to `approve` within 15 minutes.',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/withdrawals', status: 201 },
    access: ['jwt'],
    authorisedBy: { jwt: 'wallet_signature' },
    idempotency: true,
    limits: [{ points: 5, windowSeconds: 60, per: 'account' }],
    body: z
      .strictObject({
        wallet_id: WalletId.describe('The wallet that pays'),
        amount: MicroUsdc.describe('How much to withdraw'),
        destination_address: transferFields.destination_address,
      })
      .meta({ id: 'CreateWithdrawalRequest' }),
    output: PreparedWithdrawal,
    errors: ['not_found', 'conflict', 'insufficient_funds'],
    money: 'prepares',
  }),
  approveWithdrawal: operation({
    summary: 'Submit the signed withdrawal, or prepare it again',
    description: 'A repeat with the same transaction returns the same result.',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/withdrawals/:withdrawal_id/approve', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['withdrawal_approved'],
    stepUp: true,
    params: byId,
    output: z.union([PreparedWithdrawal, Withdrawal]),
    ...submitting,
    namedBy: ['withdrawal_id'],
  }),
  cancelWithdrawal: operation({
    summary: 'Cancel a withdrawal that was not submitted',
    description: 'Final. None of its transactions can be submitted any more.',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/withdrawals/:withdrawal_id/cancel', status: 200 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    whenFrozen: 'served',
    params: byId,
    bodyOptional: true,
    output: Withdrawal,
    errors: ['not_found', 'conflict'],
  }),
  listWithdrawals: operation({
    summary: 'List withdrawals',
    journey: 'read',
    http: { method: 'GET', path: '/v1/withdrawals', status: 200 },
    access: ['jwt'],
    query: z.strictObject({
      ...pageQuery,
      wallet_id: WalletId.optional().describe('Only withdrawals from this wallet'),
      status: WithdrawalStatus.optional().describe('Only withdrawals of this status'),
    }),
    output: page(Withdrawal),
    errors: [],
  }),
  getWithdrawal: operation({
    summary: 'Get a withdrawal',
    journey: 'read',
    http: { method: 'GET', path: '/v1/withdrawals/:withdrawal_id', status: 200 },
    access: ['jwt'],
    params: byId,
    output: Withdrawal,
    errors: ['not_found'],
  }),
};
