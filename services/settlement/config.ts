import { z } from 'zod';
import { SolanaAddress } from '../../shared/contract/primitives.ts';
import { hourlyCapsConfig } from '../../shared/db/hourly-caps.ts';
import { SecretBytes, serviceConfig } from '../../shared/lib/config.ts';
import { PublicKeyList, SigningKeys } from '../../shared/lib/keys.ts';

export const config = z.object({
  ...serviceConfig,
  SIGNING_KEYS: SigningKeys,
  PUBLIC_KEYS: PublicKeyList,
  USDC_MINT: SolanaAddress,
  /** Owner of the platform's fee token account, which cannot be a payer. */
  FEE_WALLET: SolanaAddress,
  CURSOR_KEY: SecretBytes,
  ...hourlyCapsConfig,
  /**
   * How long a settle waits for its confirmation before it answers 202 (docs/spec/decisions.md,
   * Settle).
   */
  SETTLE_WAIT_MS: z.coerce.number().int().min(1000).max(15_000).default(15_000),
});
