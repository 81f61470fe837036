import { z } from 'zod';
import { getCapsOperation, operatorFields, operatorOperations } from './operator.ts';
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
  WalletId,
  WireTransaction,
} from './primitives.ts';
import { internalOperation, service } from './service.ts';

/**
 * How far an intent has come. `signed`: bytes are committed, they may land. `failed`: proven that
 * nothing moved and nothing will. `reopened`: a confirmed transaction was forked away and is driven
 * again.
 */
export const Progress = z.strictObject({
  /**
   * `settlement_id`, the id of the fund, withdrawal or refund, or the preparation's id: what the
   * asking service calls it.
   */
  object_id: z.string(),
  status: z.enum(['signed', 'confirmed', 'finalized', 'failed', 'reopened']),
  /** Rises with every newly signed transaction of the intent; a fact of an older one is void. */
  generation: z.int().min(0).max(1_000_000),
  tx_hash: TransactionHash.nullable(),
  /** Slot the transaction landed in, null before. */
  slot: z.int().min(0).nullable(),
  failure: z
    .strictObject({
      code: z.enum(['insufficient_funds', 'delegation_inactive', 'payment_failed']),
      message: z.string(),
    })
    .nullable(),
});
export type Progress = z.infer<typeof Progress>;

/**
 * Everything known about an attempt: for an operator, and for a decision that must not be wrong.
 */
export const AttemptReport = z.strictObject({
  /**
   * `included`: a transaction of it is finalized on every provider. `excluded`: none can be
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
  /** Succeeded transactions that name the quote's reference, whoever made them. */
  under_reference: z.array(z.string()),
  /** The lowest finalized block height of the providers. */
  finalized_height: z.int(),
});
export type AttemptReport = z.infer<typeof AttemptReport>;

/** A token account as the chain shows it, and the slot of that snapshot. */
export const WalletSnapshot = z.strictObject({
  token_account: SolanaAddress,
  exists: z.boolean(),
  balance: MicroUsdcOrZero,
  delegate: SolanaAddress.nullable(),
  /**
   * Whether the delegate is an authority that is configured here, so that payments can be signed
   * with it.
   */
  served: z.boolean(),
  /** What the delegate may still spend; "0" without one. */
  allowance: MicroUsdcOrZero,
  slot: z.int().min(0),
});

/** Whether anything is signed, what is under way, and by which keys. */
const Signing = z.strictObject({
  paused: z.boolean(),
  /**
   * Work that has not come to its end: settles, funds, token accounts, delegations, withdrawals,
   * refunds.
   */
  open: z.int().min(0),
  /**
   * In the order of FEE_PAYER_KEYS: the first pays. Those that are configured no more have no
   * number.
   */
  fee_payers: z.array(
    z.strictObject({
      number: z.int().nullable(),
      address: SolanaAddress,
      lamports: z.int().nullable(),
      /** Signed transactions that it pays for and that may still land. */
      live: z.int().min(0),
      /** Transactions that wait for their owner's signature and name it. */
      prepared: z.int().min(0),
    }),
  ),
  /** The highest number serves new onboardings. */
  authorities: z.array(z.strictObject({ number: z.int(), address: SolanaAddress })),
});

const PerDay = z.strictObject({ used: z.int().min(0), per_day: z.int().min(0) });
/** Transactions of an account's users that the platform signs too and pays for, in a UTC day. */
const CosigningLimits = z.strictObject({
  account_id: AccountId,
  factor: z.int().min(1),
  /** Approvals, withdrawals, and refunds beyond the one that each settlement pays for. */
  cosignatures: PerDay,
  revokes: PerDay,
});
export const MAX_COSIGNING_FACTOR = 1000;

/** As many as one RPC call reads. */
export const MAX_OBSERVED_WALLETS = 100;

export const chainSubmitter = service({
  name: 'chain-submitter',
  operations: {},
  internal: {
    ...operatorOperations,
    getCaps: getCapsOperation,
    getSigning: internalOperation({
      summary: 'Whether anything is signed, what is under way, and by which keys',
      callers: ['operator'],
      input: z.strictObject({}),
      output: Signing,
    }),
    setSigningPaused: internalOperation({
      summary:
        'Pauses or resumes all signing, of what was accepted too; signed bytes go on. What is so already is left alone.',
      callers: ['operator'],
      input: z.strictObject({ paused: z.boolean(), ...operatorFields }),
      output: z.strictObject({ changed: z.boolean(), signing: Signing }),
    }),
    getCosigningLimits: internalOperation({
      summary: 'How many transactions an account may have co-signed a day, and how many it had today',
      callers: ['operator'],
      input: z.strictObject({ account_id: AccountId }),
      output: CosigningLimits,
    }),
    setCosigningFactor: internalOperation({
      summary: 'Multiplies the number of co-signatures of an account',
      callers: ['operator'],
      input: z.strictObject({
        account_id: AccountId,
        factor: z.int().min(1).max(MAX_COSIGNING_FACTOR),
        ...operatorFields,
      }),
      output: z.strictObject({ changed: z.boolean(), cosigning: CosigningLimits }),
    }),
    observeChain: internalOperation({
      summary:
        'Whether the chain can be read right now, and settles still have a budget of lamports; answered within 2 s',
      callers: ['settlement'],
      input: z.strictObject({}),
      output: z.strictObject({
        readable: z.boolean(),
        /** Null: there is room for new settles. */
        budget_refills_in_seconds: z.int().min(0).nullable(),
      }),
    }),
    getAttemptReport: internalOperation({
      summary: 'All that is known of an attempt to pay a quote, and what the chain proves about it',
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
        'Whether the chain holds a payment of a quote, asked of every provider, and which of these owners made it: for records that were lost',
      callers: ['settlement'],
      input: z.strictObject({ quote_token: CompactToken, owners: z.array(SolanaAddress) }),
      output: z.strictObject({
        paid: z.boolean(),
        /** Null: none of those that were named. */
        owner: SolanaAddress.nullable(),
      }),
    }),
    observeWallet: internalOperation({
      summary: 'Balance and delegation of an owner’s token account, at confirmed commitment',
      callers: ['settlement', 'funding'],
      input: z.strictObject({ owner: SolanaAddress }),
      output: WalletSnapshot,
    }),
    observeTransfers: internalOperation({
      summary: 'What a transaction moved into an owner’s token account, once it is finalized',
      callers: ['funding'],
      input: z.strictObject({ tx_hash: TransactionHash, owner: SolanaAddress }),
      output: z.strictObject({
        /**
         * `unknown`: not final yet, or no provider knows it. `failed`: final, and it moved nothing.
         */
        status: z.enum(['unknown', 'failed', 'finalized']),
        transfers: z.array(
          z.strictObject({
            /**
             * Its place in the transaction: "2", or "2.1" for one made by the program of
             * instruction 2.
             */
            instruction: z.string().max(16),
            source: SolanaAddress,
            amount: MicroUsdc,
          }),
        ),
      }),
    }),
    observeWallets: internalOperation({
      summary: 'The same for up to 100 owners by one call to the chain, in their order',
      callers: ['wallet'],
      input: z.strictObject({ owners: z.array(SolanaAddress).min(1).max(MAX_OBSERVED_WALLETS) }),
      output: z.strictObject({ snapshots: z.array(WalletSnapshot) }),
    }),
    describeWallet: internalOperation({
      summary:
        'Token account of a wallet and the delegate authority for a new onboarding; refuses programs, mints, token accounts',
      callers: ['wallet'],
      input: z.strictObject({ public_key: SolanaAddress }),
      output: z.strictObject({ token_account: SolanaAddress, authority: SolanaAddress }),
    }),
    checkPayoutAddress: internalOperation({
      summary: 'Whether an address may receive payouts (validation_error says why not)',
      callers: ['identity'],
      input: z.strictObject({ payout_address: SolanaAddress, allow_off_curve: z.boolean() }),
      output: z.strictObject({ token_account: SolanaAddress }),
    }),
    reserveTokenAccount: internalOperation({
      summary:
        'Whether the payout token account exists or the platform will pay for it within the account’s quota',
      callers: ['quote'],
      input: z.strictObject({
        account_id: AccountId,
        owner: SolanaAddress,
        /** Until then a payout may be signed: 60 s after the expiry of the quote, or later. */
        until: Timestamp,
      }),
      output: z.strictObject({
        status: z.enum(['exists', 'granted', 'refused']),
        /** Of a refusal that holds for today only. */
        retry_after_seconds: z.int().min(0).nullable(),
      }),
    }),
    prepareDelegation: internalOperation({
      summary:
        'The approve (or, with allowance null, revoke) transaction for the owner to sign; replaces an earlier one',
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
        'Checks the signed bytes against the preparation, simulates, commits, co-signs and broadcasts. Repeatable.',
      callers: ['wallet', 'funding'],
      input: z.strictObject({ preparation_id: z.string().max(64), transaction: WireTransaction }),
      output: z.strictObject({ tx_hash: TransactionHash }),
    }),
    prepareTransfer: internalOperation({
      summary:
        'The transaction of a withdrawal or refund for the owner to sign; replaces an earlier one of the same object',
      callers: ['funding'],
      input: z.strictObject({
        transfer: z.enum(['withdrawal', 'refund']),
        /**
         * Of the withdrawal or refund; it names the preparation too, so that one of them is ever
         * co-signed.
         */
        object_id: z.string().max(64),
        /** Of a refund: its reference ties the transfer to the settlement. */
        settlement_id: SettlementId.nullable(),
        /** Whose quota pays for a missing token account at the destination. */
        account_id: AccountId,
        /** Whose budget pays for the co-signature. */
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
        'Makes sure that a prepared transfer is never co-signed: null. When it was, how far it has come. Repeatable.',
      callers: ['funding'],
      input: z.strictObject({ transfer: z.enum(['withdrawal', 'refund']), object_id: z.string().max(64) }),
      output: Progress.nullable(),
    }),
    observePrepared: internalOperation({
      summary:
        'How far a submitted transfer has come, for a fact that was lost. Null: nothing was submitted.',
      callers: ['funding'],
      input: z.strictObject({ transfer: z.enum(['withdrawal', 'refund']), object_id: z.string().max(64) }),
      output: Progress.nullable(),
    }),
  },
  events: {
    settleProgressed: Progress,
    fundProgressed: Progress,
    delegationProgressed: Progress,
    tokenAccountProgressed: Progress,
    withdrawalProgressed: Progress,
    refundProgressed: Progress,
  },
  jobs: {
    settle: {
      summary: 'Pay a quote',
      producers: ['settlement'],
      payload: z.strictObject({
        account_id: AccountId,
        payment_attempt_id: PaymentAttemptId,
        settlement_id: SettlementId,
        /**
         * When settlement accepted the attempt: a new intent for an old one is a record that was
         * lost.
         */
        accepted_at: Timestamp,
        /**
         * The newest generation that settlement knows: a record that was lost and made anew begins
         * there.
         */
        generation: z.int().min(0).max(1_000_000),
        quote_token: CompactToken,
        payer: z.strictObject({ wallet_id: WalletId, owner: SolanaAddress, authority: SolanaAddress }),
      }),
    },
    fund: {
      summary: 'Mint or send test USDC to a wallet',
      producers: ['funding'],
      payload: z.strictObject({
        fund_id: z.string().max(64),
        account_id: AccountId,
        owner: SolanaAddress,
        amount: MicroUsdc,
      }),
    },
    createTokenAccount: {
      summary: 'Create a provisioned wallet’s token account',
      producers: ['wallet'],
      payload: z.strictObject({ wallet_id: WalletId, account_id: AccountId, owner: SolanaAddress }),
    },
  },
  consumes: [],
});
