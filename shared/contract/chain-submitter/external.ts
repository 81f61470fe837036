import { z } from 'zod';
import {
  AccountId,
  MAX_MEMO_BYTES,
  MessageHash,
  MicroUsdc,
  PaymentAttemptId,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  WireTransaction,
} from '../primitives.ts';
import { internalOperation } from '../service.ts';
import { Progress } from './progress.ts';

/** Why an outgoing payment is not signed. */
const EXTERNAL_REASONS = [
  /** It takes part in the transfer, has no key, or is an address of the platform. */
  'fee_payer_not_allowed',
  /** The payee is the payer's own wallet or an address of the platform. */
  'payee_not_allowed',
  'payee_without_token_account',
  'insufficient_funds',
  'delegation_inactive',
  'signing_paused',
  'budget_exhausted',
  /** `closeExternal` has ended the payment before anything was signed. */
  'closed',
] as const;
export const ExternalReason = z.enum(EXTERNAL_REASONS);
export type ExternalReason = z.infer<typeof ExternalReason>;

const attempt = {
  account_id: AccountId,
  payment_attempt_id: PaymentAttemptId,
  settlement_id: SettlementId,
};

/**
 * The message that was answered for the attempt before. If its record is lost, nothing else is
 * signed and nothing is closed, because the bytes may be used.
 */
const answered = { message_hash: MessageHash.nullable().optional() };

/**
 * Internal operations for payments to vendors that do not use Quittance (docs/design/interop.md,
 * section 6).
 */
export const externalOperations = {
  signExternal: internalOperation({
    summary:
      'Signs an outgoing payment with the delegated authority, commits it as the only generation of its intent, and returns it without the fee payer’s signature. Its progress is published as settleProgressed. A repeat returns the same bytes.',
    callers: ['settlement'],
    input: z.strictObject({
      ...attempt,
      ...answered,
      owner: SolanaAddress,
      authority: SolanaAddress,
      pay_to: SolanaAddress,
      fee_payer: SolanaAddress,
      amount: MicroUsdc,
      /** When the payment was accepted. It counts in the hourly caps of that hour. */
      accepted_at: Timestamp,
      /** The memo that the vendor requires. Null: a hash of the attempt. */
      memo: z
        .string()
        .refine((text) => new TextEncoder().encode(text).length <= MAX_MEMO_BYTES, {
          message: `must have at most ${MAX_MEMO_BYTES} bytes`,
        })
        .nullable(),
    }),
    output: z.discriminatedUnion('outcome', [
      z.strictObject({
        outcome: z.literal('signed'),
        transaction: WireTransaction,
        message_hash: MessageHash,
        source_account: SolanaAddress,
        /** Set once the payment was seen on chain. */
        tx_hash: TransactionHash.nullable(),
      }),
      // Final: nothing was signed for this settlement, and nothing will be.
      z.strictObject({ outcome: z.literal('refused'), reason: ExternalReason, message: z.string() }),
    ]),
  }),
  closeExternal: internalOperation({
    summary:
      'The progress of an outgoing payment. If no bytes were committed for it, it is failed first, so that none ever are. Idempotent.',
    callers: ['settlement'],
    input: z.strictObject({ ...attempt, ...answered }),
    output: Progress,
  }),
  observeExternal: internalOperation({
    summary:
      'Looks for an outgoing payment in the history of its source now, also for a transaction that the vendor names. The message decides whether it is the payment.',
    callers: ['settlement'],
    input: z.strictObject({ ...attempt, tx_hash: TransactionHash.nullable() }),
    output: Progress,
  }),
};
