import { z } from 'zod';
import {
  getCapsOperation,
  inspectionField,
  listReplicasOperation,
  operatorOperations,
  Reason,
} from '../operator.ts';
import {
  AccountId,
  CompactToken,
  MicroUsdc,
  MicroUsdcOrZero,
  PaymentAttemptId,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  WireTransaction,
} from '../primitives.ts';
import { listSentEvents } from '../sent-events.ts';
import { internalOperation, operatorOperation } from '../service.ts';
import { incomingOperations } from './incoming.ts';
import { outgoingOperations } from './outgoing.ts';
import { Progress } from './progress.ts';

/** Everything known about an attempt, for operators and their decisions. */
export const AttemptReport = z.strictObject({
  /**
   * `included`: one of its transactions is finalized on every provider. `excluded`: none can be
   * included any more (docs/design/settle.md, rule 11). `open`: neither is proven.
   */
  outcome: z.enum(['included', 'excluded', 'open']),
  reason: z.string(),
  intent: z
    .strictObject({
      status: z.string(),
      generation: z.int(),
      object_id: z.string(),
      tx_hash: TransactionHash.nullable(),
      failure: z.string().nullable(),
      created_at: Timestamp,
    })
    .nullable(),
  transactions: z.array(
    z.strictObject({
      signature: z.string(),
      generation: z.int(),
      status: z.string(),
      last_valid_block_height: z.int(),
      /** One for each provider, in the order of SOLANA_RPC_URLS. */
      provider_statuses: z.array(z.string()),
    }),
  ),
  /** Successful transactions that contain the quote's reference, from any sender. */
  under_reference: z.array(z.string()),
  /** The lowest finalized block height of the providers. */
  finalized_height: z.int(),
});
export type AttemptReport = z.infer<typeof AttemptReport>;
/** The state of a token account on chain, and the slot of the snapshot. */
export const WalletSnapshot = z.strictObject({
  token_account: SolanaAddress,
  exists: z.boolean(),
  balance: MicroUsdcOrZero,
  delegate: SolanaAddress.nullable(),
  /**
   * Whether the delegate is an authority that is configured here, with which payments can be
   * signed.
   */
  served: z.boolean(),
  /** What the delegate may still spend; "0" without one. */
  allowance: MicroUsdcOrZero,
  slot: z.int().min(0),
});
/** Whether signing is paused, how much work is open, and which keys are configured. */
const Signing = z.strictObject({
  paused: z.boolean(),
  /** Open intents of all kinds. */
  open: z.int().min(0),
  /**
   * In the order of FEE_PAYER_KEYS; the first one pays. A key that is no longer configured has no
   * number.
   */
  fee_payers: z.array(
    z.strictObject({
      number: z.int().nullable(),
      address: SolanaAddress,
      lamports: z.int().nullable(),
      /** Signed transactions that it pays for and that may still be included. */
      live: z.int().min(0),
      /** Transactions that name it and wait for their owner's signature. */
      prepared: z.int().min(0),
    }),
  ),
  /** New onboardings use the highest number. */
  authorities: z.array(z.strictObject({ number: z.int(), address: SolanaAddress })),
});
const Lamports = z.string().regex(/^-?\d+$/);
/** Final transactions of one kind of work, and the lamports that the chain took for them. */
const CostSum = z.strictObject({
  kind: z.string(),
  transactions: z.int().min(0),
  fee_lamports: Lamports,
  /** For the token accounts that they created. */
  rent_lamports: Lamports,
});
/** Lamports of this UTC day, reserved of what the environment and each account may use. */
const LamportBudgets = z.strictObject({
  budgets: z.array(z.strictObject({ budget: z.string(), reserved: z.int().min(0), per_day: z.int().min(0) })),
  /**
   * The accounts and vendors that have used most of their tenth, or of their number of
   * co-signatures.
   */
  most: z.array(
    z.strictObject({
      budget: z.string(),
      of: z.enum(['account', 'vendor', 'number']),
      account_id: z.string(),
      reserved: z.int().min(0),
      per_day: z.int().min(0),
    }),
  ),
  /** Vendor accounts by the payments of other clients that failed on the chain today. */
  incoming_failures: z.array(z.strictObject({ account_id: z.string(), failures: z.int().min(0) })),
  incoming_failures_per_day: z.int().min(0),
});
const PerDay = z.strictObject({ used: z.int().min(0), per_day: z.int().min(0) });
/** Transactions of an account that the platform co-signs and pays for, per UTC day. */
const CosigningLimits = z.strictObject({
  account_id: AccountId,
  factor: z.int().min(1),
  /** Approvals, withdrawals, and refunds. The first refund of each settlement is not counted. */
  cosignatures: PerDay,
  revokes: PerDay,
});
export const MAX_COSIGNING_FACTOR = 1000;
/** Maximum number of accounts of one RPC call. */
export const MAX_OBSERVED_WALLETS = 100;

/** The internal operations of chain-submitter. */
export const internal = {
  ...operatorOperations,
  listSentEvents: listSentEvents(['funding', 'settlement', 'wallet']),
  ...incomingOperations,
  ...outgoingOperations,
  getCaps: getCapsOperation,
  getBudgets: operatorOperation({
    summary:
      'The lamport budgets of this UTC day, who has used most of its share, and whose payments have failed on the chain',
    input: z.strictObject({}),
    output: LamportBudgets,
  }),
  listReplicas: listReplicasOperation,
  getSigning: operatorOperation({
    summary: 'Whether signing is paused, how much work is open, and which keys are configured',
    input: z.strictObject({}),
    output: Signing,
  }),
  setSigningPaused: operatorOperation({
    summary:
      'Pauses or resumes all signing, also for accepted work. Signed transactions are still broadcast. Changes nothing if signing is in that state already.',
    input: z.strictObject({ paused: z.boolean(), reason: Reason }),
    output: z.strictObject({ changed: z.boolean(), signing: Signing }),
  }),
  getCosts: operatorOperation({
    summary: 'What final transactions cost in a day or a month, and the accounts that they were for',
    input: z.strictObject({
      /** A month (2026-11) or a day (2026-11-28), in UTC. */
      period: z.string().regex(/^\d{4}-\d{2}(-\d{2})?$/),
      account_id: AccountId.nullable(),
      limit: z.int().min(1).max(200),
    }),
    output: z.strictObject({
      from: z.iso.date(),
      /** The day after the last one. */
      before: z.iso.date(),
      platform: z.array(CostSum),
      /** Of the month in which the period begins, the highest first. */
      accounts: z.array(CostSum.extend({ account_id: z.string() })),
      /** Transactions on the chain whose cost no provider has told yet. */
      unread: z.int().min(0),
    }),
  }),
  getCosigningLimits: operatorOperation({
    summary: 'How many transactions of an account are co-signed per day at most, and how many were today',
    input: z.strictObject({ account_id: AccountId, ...inspectionField }),
    output: CosigningLimits,
  }),
  setCosigningFactor: operatorOperation({
    summary: 'Multiplies the number of co-signatures of an account',
    input: z.strictObject({
      account_id: AccountId,
      factor: z.int().min(1).max(MAX_COSIGNING_FACTOR),
      reason: Reason,
    }),
    output: z.strictObject({ changed: z.boolean(), cosigning: CosigningLimits }),
  }),
  observeChain: internalOperation({
    summary:
      'Whether the chain can be read now, and whether settles still have a lamport budget. Answered within 2 s.',
    callers: ['settlement'],
    input: z.strictObject({}),
    output: z.strictObject({
      readable: z.boolean(),
      /** Null: the budget suffices for new settles. */
      budget_refills_in_seconds: z.int().min(0).nullable(),
    }),
  }),
  getAttemptReport: internalOperation({
    summary: 'Everything known about an attempt to pay a quote, and what the chain proves about it',
    callers: ['settlement'],
    input: z.strictObject({
      account_id: AccountId,
      payment_attempt_id: PaymentAttemptId,
      quote_token: CompactToken,
    }),
    output: AttemptReport,
  }),
  findPayment: internalOperation({
    summary:
      'Whether the chain holds a payment of a quote, by a query to every provider, and which of the named owners made it. For lost records.',
    callers: ['settlement'],
    input: z.strictObject({ quote_token: CompactToken, owners: z.array(SolanaAddress) }),
    output: z.strictObject({
      paid: z.boolean(),
      /** Null: none of the named owners. */
      owner: SolanaAddress.nullable(),
    }),
  }),
  findCapture: internalOperation({
    summary:
      'What was captured of a quote with a ceiling, by the payment of its attempt and by a query to every provider. ' +
      'For lost records.',
    callers: ['settlement'],
    input: z.strictObject({
      quote_token: CompactToken,
      owner: SolanaAddress,
      account_id: AccountId,
      payment_attempt_id: PaymentAttemptId,
    }),
    output: z.strictObject({
      /** Null: it was not captured from the wallet of the owner. */
      amount: MicroUsdc.nullable(),
    }),
  }),
  listLostRecords: internalOperation({
    summary:
      'Since when transactions of the fee payers are on the chain and not recorded, which a restore has lost, and whether the chain was compared since the database has started',
    callers: ['settlement'],
    input: z.strictObject({}),
    output: z.strictObject({
      compared: z.boolean(),
      /** The newest first. */
      lost: z.array(z.strictObject({ lost_id: z.string(), since: Timestamp })),
    }),
  }),
  observeWallet: internalOperation({
    summary: 'Balance and delegation of an owner’s token account, at confirmed commitment',
    callers: ['settlement', 'funding'],
    input: z.strictObject({ owner: SolanaAddress }),
    output: WalletSnapshot,
  }),
  observeTransfers: internalOperation({
    summary: 'What a finalized transaction moved into an owner’s token account',
    callers: ['funding'],
    input: z.strictObject({ tx_hash: TransactionHash, owner: SolanaAddress }),
    output: z.strictObject({
      /**
       * `unknown`: not finalized yet, or unknown to every provider. `failed`: finalized, and it
       * moved nothing.
       */
      status: z.enum(['unknown', 'failed', 'finalized']),
      transfers: z.array(
        z.strictObject({
          /**
           * Its position in the transaction: "2", or "2.1" for an inner instruction of instruction
           * 2.
           */
          instruction: z.string().max(16),
          source: SolanaAddress,
          amount: MicroUsdc,
        }),
      ),
    }),
  }),
  observeWallets: internalOperation({
    summary: 'observeWallet for up to 100 owners with one RPC call, in their order',
    callers: ['wallet', 'settlement'],
    leavesNothing: true,
    input: z.strictObject({ owners: z.array(SolanaAddress).min(1).max(MAX_OBSERVED_WALLETS) }),
    output: z.strictObject({ snapshots: z.array(WalletSnapshot) }),
  }),
  describeWallet: internalOperation({
    summary:
      'Token account of a wallet, and the delegate authority for a new onboarding. Programs, mints and token accounts are refused.',
    callers: ['wallet'],
    input: z.strictObject({ public_key: SolanaAddress }),
    output: z.strictObject({ token_account: SolanaAddress, authority: SolanaAddress }),
  }),
  checkPayoutAddress: internalOperation({
    summary: 'Checks that an address may receive payouts. If not, validation_error names the reason.',
    callers: ['identity'],
    input: z.strictObject({ payout_address: SolanaAddress, allow_off_curve: z.boolean() }),
    output: z.strictObject({ token_account: SolanaAddress }),
  }),
  reserveTokenAccount: internalOperation({
    summary:
      'Whether the payout token account exists, or else the platform pays for it within the account’s quota',
    callers: ['quote'],
    input: z.strictObject({
      account_id: AccountId,
      owner: SolanaAddress,
      /** A payout may be signed until then: 60 s after the expiry of the quote, or later. */
      until: Timestamp,
    }),
    output: z.strictObject({
      status: z.enum(['exists', 'granted', 'refused']),
      /** Set for a refusal that holds only today. */
      retry_after_seconds: z.int().min(0).nullable(),
    }),
  }),
  prepareDelegation: internalOperation({
    summary:
      'Prepares the approve transaction (with allowance null: the revoke transaction) for the owner to sign. It replaces an earlier one.',
    callers: ['wallet'],
    input: z.strictObject({
      preparation_id: z.string().max(64),
      account_id: AccountId,
      owner: SolanaAddress,
      allowance: MicroUsdc.nullable(),
    }),
    output: z.strictObject({ transaction: WireTransaction, expires_at: Timestamp }),
  }),
  submitPrepared: internalOperation({
    summary:
      'Checks the signed bytes against the preparation, simulates, commits, co-signs and broadcasts. Idempotent.',
    callers: ['wallet', 'funding'],
    input: z.strictObject({ preparation_id: z.string().max(64), transaction: WireTransaction }),
    output: z.strictObject({ tx_hash: TransactionHash }),
  }),
  prepareTransfer: internalOperation({
    summary:
      'Prepares the transaction of a withdrawal or refund for the owner to sign. It replaces an earlier one of the same object.',
    callers: ['funding'],
    input: z.strictObject({
      transfer: z.enum(['withdrawal', 'refund']),
      /**
       * Id of the withdrawal or refund. It also identifies the preparation, so that at most one
       * transaction is co-signed.
       */
      object_id: z.string().max(64),
      /** Set for a refund: its reference links the transfer to the settlement. */
      settlement_id: SettlementId.nullable(),
      /** The account whose quota pays for a missing token account at the destination. */
      account_id: AccountId,
      /** The account whose budget pays for the co-signature. */
      budget_account_id: AccountId,
      owner: SolanaAddress,
      /** A wallet, or a token account of the mint. */
      destination: SolanaAddress,
      amount: MicroUsdc,
      accepted_at: Timestamp,
    }),
    output: z.strictObject({
      transaction: WireTransaction,
      expires_at: Timestamp,
      destination_token_account: SolanaAddress,
    }),
  }),
  cancelPrepared: internalOperation({
    summary:
      'Ensures that a prepared transfer is never co-signed, and returns null. If it was co-signed already, returns its progress. Idempotent.',
    callers: ['funding'],
    input: z.strictObject({ transfer: z.enum(['withdrawal', 'refund']), object_id: z.string().max(64) }),
    output: Progress.nullable(),
  }),
  observePrepared: internalOperation({
    summary: 'The progress of a submitted transfer, for a lost event. Null if nothing was submitted.',
    callers: ['funding'],
    input: z.strictObject({ transfer: z.enum(['withdrawal', 'refund']), object_id: z.string().max(64) }),
    output: Progress.nullable(),
  }),
};
