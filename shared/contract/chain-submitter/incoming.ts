import { z } from 'zod';
import {
  AccountId,
  Blockhash,
  MessageHash,
  MicroUsdc,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  WireTransaction,
} from '../primitives.ts';
import { internalOperation } from '../service.ts';
import { Progress } from './progress.ts';

/**
 * Why a transaction of another client is refused. The first group are the names of x402, without
 * their prefix `invalid_exact_svm_payload_`.
 */
const INCOMING_REASONS = [
  'transaction_could_not_be_decoded',
  'excessive_signers',
  'fee_payer_not_managed_by_facilitator',
  'signature_invalid',
  'transaction_fee_payer_transferring_funds',
  'transaction_instructions_length',
  'transaction_instructions_compute_limit_instruction',
  'transaction_instructions_compute_limit_instruction_too_high',
  'transaction_instructions_compute_price_instruction',
  'transaction_instructions_compute_price_instruction_too_high',
  'no_transfer_instruction',
  'mint_mismatch',
  'recipient_mismatch',
  'amount_mismatch',
  'memo_count',
  'memo_mismatch',
  'unknown_instruction',
  // The chain or the platform refuses it. Nothing was signed.
  'simulation_failed',
  /** A payee has no token account yet. */
  'payee_not_ready',
  'insufficient_funds',
  'blockhash_expired',
  'budget_exhausted',
  'signing_paused',
  'source_blocked',
  /** `closeIncoming` has ended the payment before anything was signed. */
  'closed',
] as const;
export const IncomingReason = z.enum(INCOMING_REASONS);
export type IncomingReason = z.infer<typeof IncomingReason>;

const Refused = z.strictObject({
  outcome: z.literal('refused'),
  reason: IncomingReason,
  message: z.string(),
});

/** A transaction that another client has built and signed, and what it must do. */
const payment = {
  transaction: WireTransaction,
  /** The transfers, in their order. Each goes to the owner's existing token account. */
  legs: z
    .array(z.strictObject({ owner: SolanaAddress, amount: MicroUsdc }))
    .min(1)
    .max(2),
  /** The exact memos. Null: any single memo, or none. */
  memos: z.array(z.string().max(256)).max(2).nullable(),
  /**
   * The buyer signs after our fee payer, and sends the transaction itself (docs/adr/0080). Its
   * signature is empty here.
   */
  signs_last: z.literal(true).optional(),
};

/**
 * When the records begin that a restore has lost. Before a payment is refused or closed, the chain
 * is asked whether it was made since then (docs/adr/0034).
 */
const lost_since = Timestamp.nullable().optional();

/** Internal operations for payments that clients of x402 and MPP sign (docs/design/interop.md). */
export const incomingOperations = {
  getFeePayers: internalOperation({
    summary: 'The fee payers that co-sign transactions of other clients. The first one is advertised.',
    callers: ['settlement'],
    input: z.strictObject({}),
    output: z.strictObject({ fee_payers: z.array(SolanaAddress).min(1) }),
  }),
  getBlockhash: internalOperation({
    summary: 'A blockhash of the last half second, for a transaction that a page builds. Writes nothing.',
    callers: ['settlement'],
    input: z.strictObject({}),
    output: z.strictObject({ blockhash: Blockhash }),
  }),
  buildIncoming: internalOperation({
    summary:
      'Builds the unsigned transaction by which a wallet that signs last pays, after a read of its accounts. Writes nothing.',
    callers: ['settlement'],
    input: z.strictObject({
      payer: SolanaAddress,
      payee: SolanaAddress,
      amount: MicroUsdc,
      memo: z.string().max(256),
    }),
    output: z.strictObject({ transaction: WireTransaction }),
  }),
  createPayoutAccount: internalOperation({
    summary:
      'Creates the token account of a payout address, within the quota of the account, because a payment of another client goes to an existing one. Idempotent.',
    callers: ['quote', 'settlement'],
    input: z.strictObject({ account_id: AccountId, owner: SolanaAddress }),
    output: z.strictObject({ exists: z.boolean() }),
  }),
  checkIncoming: internalOperation({
    summary:
      'Decodes a transaction of another client, checks it against the policy and, if requested, simulates it. Writes nothing and signs nothing.',
    callers: ['settlement'],
    input: z.strictObject({ ...payment, lost_since, simulate: z.boolean() }),
    output: z.discriminatedUnion('outcome', [
      z.strictObject({
        outcome: z.literal('accepted'),
        message_hash: MessageHash,
        /** The owner or delegate that signed for the source. */
        payer: SolanaAddress,
        source_account: SolanaAddress,
        fee_payer: SolanaAddress,
        /** All fees of the transaction, which our fee payer pays. */
        lamports: z.int().min(0),
      }),
      Refused,
    ]),
  }),
  submitIncoming: internalOperation({
    summary:
      'Checks a transaction again, commits the co-signed bytes as the only generation of its intent, and broadcasts them, or returns them to a buyer that signs last. Its progress is published as settleProgressed. A repeat returns the same transaction.',
    callers: ['settlement'],
    input: z.strictObject({
      ...payment,
      lost_since,
      settlement_id: SettlementId,
      /** The vendor, whose budget of lamports pays. */
      account_id: AccountId,
    }),
    output: z.discriminatedUnion('outcome', [
      z.strictObject({
        outcome: z.literal('submitted'),
        tx_hash: TransactionHash,
        /** For a buyer that signs last: with our signature. */
        transaction: WireTransaction.optional(),
      }),
      // Final: nothing was signed for this settlement, and nothing will be.
      Refused,
    ]),
  }),
  closeIncoming: internalOperation({
    summary:
      'The progress of a payment. If no bytes were committed for it, it is failed first, so that none ever are. Idempotent.',
    callers: ['settlement'],
    input: z.strictObject({
      message_hash: MessageHash,
      settlement_id: SettlementId,
      lost: z
        .strictObject({ since: Timestamp, source_account: SolanaAddress, account_id: AccountId })
        .nullable()
        .optional(),
    }),
    output: Progress,
  }),
  findLostIncoming: internalOperation({
    summary:
      'Whether the chain has the payment of a transaction whose record a restore may have lost, at any provider. Writes nothing.',
    callers: ['settlement'],
    input: z.strictObject({ transaction: payment.transaction, since: Timestamp }),
    output: z.strictObject({ paid: z.boolean() }),
  }),
};
