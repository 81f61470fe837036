import { z } from 'zod';
import { SolanaAddress } from '../../shared/contract/primitives.ts';
import { hourlyCapsConfig, MicroCap } from '../../shared/db/hourly-caps.ts';
import { SecretList, serviceConfig } from '../../shared/lib/config.ts';
import { feeConfig, solPriceConfig } from '../../shared/lib/money/fee-settings.ts';
import { MAX_MICRO_IN_PICO } from '../../shared/lib/money/pico.ts';
import { PublicKeyList, SigningKeys } from '../../shared/lib/tokens/keys.ts';

export const config = z.object({
  ...serviceConfig,
  SIGNING_KEYS: SigningKeys,
  PUBLIC_KEYS: PublicKeyList,
  USDC_MINT: SolanaAddress,
  /** Owner of the platform's fee token account, which cannot be a payer. */
  FEE_WALLET: SolanaAddress,
  CURSOR_KEY: SecretList,
  /** The address at which clients reach the gateway: receipts name it and link to its page. */
  PUBLIC_URL: z.url(),
  ...hourlyCapsConfig,
  /**
   * What payers may authorize and not have paid yet (docs/economics.md, What a vendor can lose): by
   * one quote, by a payer without a finalized payment, and for one vendor.
   */
  TAB_MAX_AMOUNT_MICRO: MicroCap(50_000_000n, MAX_MICRO_IN_PICO),
  TAB_MAX_NEW_PAYER_MICRO: MicroCap(5_000_000n),
  TAB_MAX_VENDOR_MICRO: MicroCap(5_000_000_000n),
  /**
   * How long a settle waits for its confirmation before it answers 202 (docs/spec/decisions.md,
   * Settle).
   */
  SETTLE_WAIT_MS: z.coerce.number().int().min(1000).max(15_000).default(15_000),
  /** The network's CAIP-2 id, by which clients of x402 know it. */
  X402_NETWORK: z.string().regex(/^solana:[1-9A-HJ-NP-Za-km-z]{32}$/, 'must be a CAIP-2 id of Solana'),
  /** The fee of an MPP payment, which it carries on chain: the rule of quotes. */
  ...feeConfig,
  /** The fee that an x402 payment accrues. */
  X402_FEE_BPS: z.coerce.bigint().min(0n).max(10_000n).default(50n),
  X402_FEE_MIN_MICRO: z.coerce.bigint().min(0n).default(2000n),
  ...solPriceConfig,
  /**
   * What an account may owe of accrued fees: the first credit, or so many times what it ever paid
   * of them, up to the last value (docs/adr/0061).
   */
  X402_FIRST_CREDIT_MICRO: z.coerce.bigint().min(0n).default(100_000n),
  X402_CREDIT_PER_PAID: z.coerce.bigint().min(1n).max(1000n).default(4n),
  X402_CREDIT_MICRO: z.coerce.bigint().min(0n).default(5_000_000n),
  /**
   * How many payments may wait for a wallet that signs last (docs/adr/0080): of one payment link,
   * and of all.
   */
  OPEN_PHONE_PAYMENTS_OF_LINK: z.coerce.number().int().min(1).max(10_000).default(64),
  OPEN_PHONE_PAYMENTS: z.coerce.number().int().min(1).max(100_000).default(512),
});
export type Config = z.infer<typeof config>;
