import { z } from 'zod';
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
 * How far an intent has come. `signed`: bytes are committed, they may land. `failed`: proven that nothing
 * moved and nothing will. `reopened`: a confirmed transaction was forked away and is driven again.
 */
const Progress = z.strictObject({
  /** `settlement_id`, the fund's id, or the preparation's id: what the asking service calls it. */
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

/** A token account as the chain shows it, and the slot of that sight. */
export const WalletSight = z.strictObject({
  token_account: SolanaAddress,
  exists: z.boolean(),
  balance: MicroUsdcOrZero,
  delegate: SolanaAddress.nullable(),
  /** What the delegate may still spend; "0" without one. */
  allowance: MicroUsdcOrZero,
  slot: z.int().min(0),
});

/** As many as one RPC call reads. */
export const MAX_WALLETS_SEEN = 100;

export const chainSubmitter = service({
  name: 'chain-submitter',
  operations: {},
  internal: {
    observeChain: internalOperation({
      summary: 'Whether the chain can be read right now; answered within 2 s',
      callers: ['settlement'],
      input: z.strictObject({}),
      output: z.strictObject({ readable: z.boolean() }),
    }),
    observeWallet: internalOperation({
      summary: 'Balance and delegation of an owner’s token account, at confirmed commitment',
      callers: ['wallet', 'settlement', 'funding'],
      input: z.strictObject({ owner: SolanaAddress }),
      output: WalletSight,
    }),
    observeWallets: internalOperation({
      summary: 'The same for up to 100 owners by one call to the chain, in their order',
      callers: ['wallet'],
      input: z.strictObject({ owners: z.array(SolanaAddress).min(1).max(MAX_WALLETS_SEEN) }),
      output: z.strictObject({ sights: z.array(WalletSight) }),
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
      input: z.strictObject({ account_id: AccountId, owner: SolanaAddress }),
      output: z.strictObject({ status: z.enum(['exists', 'granted', 'refused']) }),
    }),
    prepareDelegation: internalOperation({
      summary:
        'The approve (or, with allowance null, revoke) transaction for the owner to sign; replaces an earlier one',
      callers: ['wallet'],
      input: z.strictObject({
        preparation_id: z.string().max(64),
        account_id: AccountId,
        owner: SolanaAddress,
        authority: SolanaAddress,
        allowance: MicroUsdc.nullable(),
      }),
      output: z.strictObject({ transaction: WireTransaction, expires_at: Timestamp }),
    }),
    submitPrepared: internalOperation({
      summary:
        'Checks the signed bytes against the preparation, simulates, commits, co-signs and broadcasts. Repeatable.',
      callers: ['wallet'],
      input: z.strictObject({ preparation_id: z.string().max(64), transaction: WireTransaction }),
      output: z.strictObject({ tx_hash: TransactionHash }),
    }),
  },
  events: {
    settleProgressed: Progress,
    fundProgressed: Progress,
    delegationProgressed: Progress,
    tokenAccountProgressed: Progress,
  },
  jobs: {
    settle: {
      summary: 'Pay a quote',
      producers: ['settlement'],
      payload: z.strictObject({
        account_id: AccountId,
        payment_attempt_id: PaymentAttemptId,
        settlement_id: SettlementId,
        /** When settlement accepted the attempt: a new intent for an old one is a record that was lost. */
        accepted_at: Timestamp.optional(),
        /** The newest generation that settlement has heard of: a record that was lost and made anew begins there. */
        generation: z.int().min(0).max(1_000_000).optional(),
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
