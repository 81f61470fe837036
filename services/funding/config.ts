import { z } from 'zod';
import { SecretBytes, serviceConfig } from '../../shared/lib/config.ts';

export const config = z.object({
  ...serviceConfig,
  /** True where chain-submitter holds a funding authority; elsewhere dev/fund does not exist (404). */
  DEV_FUND: z.stringbool({ truthy: ['true'], falsy: ['false'] }).default(false),
  CURSOR_KEY: SecretBytes,
  /** How long a caller waits for the chain. */
  CHAIN_WAIT_MS: z.coerce.number().int().min(1000).max(15_000).default(15_000),
});
