import { z } from 'zod';
import {
  AccountId,
  CompactToken,
  MicroUsdc,
  PaymentAttemptId,
  SettlementId,
  SolanaAddress,
  Timestamp,
  WalletId,
} from '../primitives.ts';

/** The most extensions of an authorization, so that the job of its capture fits into a message. */
export const MAX_EXTENSIONS = 20;

/** The jobs of chain-submitter. */
export const jobs = {
  settle: {
    summary: 'Pay a quote',
    producers: ['settlement'],
    handedOver: true,
    payload: z.strictObject({
      account_id: AccountId,
      payment_attempt_id: PaymentAttemptId,
      settlement_id: SettlementId,
      /**
       * When settlement accepted the attempt. A new intent for an old attempt means that the record
       * was lost.
       */
      accepted_at: Timestamp,
      /**
       * The newest generation that settlement has recorded. An intent that replaces a lost record
       * begins there.
       */
      generation: z.int().min(0).max(1_000_000),
      quote_token: CompactToken,
      /** What is paid of a quote with `capture`, at most its amount. Other quotes have none. */
      capture_amount: MicroUsdc.optional(),
      /** The quotes that have extended the ceiling, each once. */
      extension_tokens: z.array(CompactToken).max(MAX_EXTENSIONS).optional(),
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
    payload: z.strictObject({
      /** Null: the token account of a payout address. */
      wallet_id: WalletId.nullable(),
      account_id: AccountId,
      owner: SolanaAddress,
    }),
  },
} as const;
