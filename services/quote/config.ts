import { z } from 'zod';
import { SolanaAddress } from '../../shared/contract/primitives.ts';
import { SecretList, serviceConfig } from '../../shared/lib/config.ts';
import { feeConfig } from '../../shared/lib/money/fee-settings.ts';
import { SigningKeys } from '../../shared/lib/tokens/keys.ts';

export const config = z.object({
  ...serviceConfig,
  SIGNING_KEYS: SigningKeys,
  USDC_MINT: SolanaAddress,
  CURSOR_KEY: SecretList,
  /** The address of the gateway, whose page opens payment links. */
  PUBLIC_URL: z.url(),
  ...feeConfig,
});
export type Config = z.infer<typeof config>;
