import type { Environment } from '../../shared/contract/primitives.ts';
import type { FeeRule } from '../../shared/lib/money/fee.ts';
import type { PublicKeys, SigningKey } from '../../shared/lib/tokens/keys.ts';

/**
 * The settings that handlers take. The name has `Service`, because the terms of a payment are
 * `Terms` here (record/store/settlements.ts).
 */
export type ServiceTerms = {
  environment: Environment;
  publicKeys: PublicKeys;
  signingKey: SigningKey;
  mint: string;
  /** Owner of the platform's fee token account, which cannot be a payer. */
  feeWallet: string;
  cursorKeys: readonly Buffer[];
  settleWaitMs: number;
  x402Network: string;
  /** The bounds of what is authorized and not paid, in micro-units. */
  tabCaps: Readonly<Record<'amountMicro' | 'newPayerMicro' | 'vendorMicro', bigint>>;
  fee: FeeRule;
};
