import { z } from 'zod';
import { SolanaAddress } from '../../shared/contract/primitives.ts';
import { SecretBytes, serviceConfig } from '../../shared/lib/config.ts';
import { SigningKeys } from '../../shared/lib/keys.ts';

export const config = z.object({
  ...serviceConfig,
  SIGNING_KEYS: SigningKeys,
  USDC_MINT: SolanaAddress,
  CURSOR_KEY: SecretBytes,
  FEE_BPS: z.coerce.bigint().min(0n).max(10_000n).default(50n),
  FEE_MIN_MICRO: z.coerce.bigint().min(0n).default(10_000n),
});
