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
const OUTGOING_REASONS = [
  /** It takes part in the transfer, has no key, or is an address of the platform. */
  'fee_payer_not_allowed',
  /** The payee is the payer's own wallet or an address of the platform. */
  'payee_not_allowed',
  'payee_without_token_account',
  'insufficient_funds',
  'delegation_inactive',
  'signing_paused',
  'budget_exhausted',
  /** `closeOutgoing` has ended the payment before anything was signed. */
  'closed',
] as const;
export const OutgoingReason = z.enum(OUTGOING_REASONS);
export type OutgoingReason = z.infer<typeof OutgoingReason>;

const attemptId = { account_id: AccountId, payment_attempt_id: PaymentAttemptId };
const attempt = { ...attemptId, settlement_id: SettlementId };

const Memo = z.string().refine((text) => new TextEncoder().encode(text).length <= MAX_MEMO_BYTES, {
  message: `must have at most ${MAX_MEMO_BYTES} bytes`,
});

/** MPP allows as many further payees of one payment. */
export const MAX_SPLITS = 8;
/** A further payee of a payment of MPP. */
export const OutgoingSplit = z.strictObject({
  pay_to: SolanaAddress,
  amount: MicroUsdc,
  memo: Memo.nullable(),
});
export type OutgoingSplit = z.infer<typeof OutgoingSplit>;

/** Who is paid by a transaction, and what it must contain besides. */
const paid = {
  pay_to: SolanaAddress,
  /** What the payer pays, the splits included. */
  amount: MicroUsdc,
  /** The memo that the vendor requires. Null: of x402 a hash of the attempt, of MPP none. */
  memo: Memo.nullable(),
  /** Set for a payment of MPP, also if it has none. Absent: a payment of x402. */
  splits: z.array(OutgoingSplit).max(MAX_SPLITS).optional(),
};

/** What the transaction of a payment does. */
const payment = {
  owner: SolanaAddress,
  authority: SolanaAddress,
  fee_payer: SolanaAddress,
  ...paid,
};

/**
 * The time whose records a restore has lost. Before a payment is signed or closed, the chain is
 * asked whether the wallets of its account have made it then (docs/adr/0034).
 */
const Lost = z.strictObject({
  since: Timestamp,
  until: Timestamp,
  owners: z.array(SolanaAddress).max(1000),
});
export type Lost = z.infer<typeof Lost>;

/**
 * The message that was answered for the attempt before. If its record is lost, its payment is
 * adopted from the chain. Nothing else is signed and nothing is closed, because the bytes may be
 * used.
 */
const answered = { message_hash: MessageHash.nullable().optional() };

/**
 * Internal operations for payments to vendors that do not use Quittance (docs/design/interop.md,
 * section 6).
 */
export const outgoingOperations = {
  signOutgoing: internalOperation({
    summary:
      'Signs an outgoing payment with the delegated authority, commits it as the only generation of its intent, and returns it without the fee payer’s signature. Its progress is published as settleProgressed. A repeat returns the same bytes.',
    callers: ['settlement'],
    input: z.strictObject({
      ...attempt,
      ...answered,
      ...payment,
      /** When the payment was accepted. It counts in the hourly caps of that hour. */
      accepted_at: Timestamp,
      lost: Lost.nullable().optional(),
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
      z.strictObject({ outcome: z.literal('refused'), reason: OutgoingReason, message: z.string() }),
      // The chain has a payment that may be this one. Nothing is signed, and nothing is closed.
      z.strictObject({ outcome: z.literal('undecided') }),
    ]),
  }),
  closeOutgoing: internalOperation({
    summary:
      'The progress of an outgoing payment. If no bytes were committed for it, it is failed first, so that none ever are. Idempotent.',
    callers: ['settlement'],
    input: z.strictObject({
      ...attempt,
      ...answered,
      lost: z
        .strictObject({ ...Lost.shape, ...payment })
        .nullable()
        .optional(),
    }),
    output: Progress,
  }),
  findLostOutgoing: internalOperation({
    summary:
      'Whether the chain has an outgoing payment of an attempt whose record a restore may have lost, at any provider. Writes nothing.',
    callers: ['settlement'],
    input: z.strictObject({
      ...attemptId,
      ...paid,
      lost: Lost,
    }),
    output: z.strictObject({
      /** `undecided`: one that may be of this attempt. */
      found: z.enum(['none', 'paid', 'undecided']),
      /** The transaction of the attempt, or those that may be of it. */
      transactions: z.array(TransactionHash),
    }),
  }),
  observeOutgoing: internalOperation({
    summary:
      'Looks for an outgoing payment in the history of its source now, also for a transaction that the vendor names. The message decides whether it is the payment.',
    callers: ['settlement'],
    input: z.strictObject({ ...attempt, tx_hash: TransactionHash.nullable() }),
    output: Progress,
  }),
};
