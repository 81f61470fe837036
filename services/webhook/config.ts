import { z } from 'zod';
import { SecretBytes, serviceConfig } from '../../shared/lib/config.ts';

export const config = z.object({
  ...serviceConfig,
  /** Encrypts the secrets of endpoints. Changing it makes every stored one useless. */
  SECRETS_KEY: SecretBytes,
  CURSOR_KEY: SecretBytes,
  /** For a stack on one machine: http, and addresses that are not public. Anywhere else it opens the inner network. */
  ALLOW_PRIVATE_TARGETS: z.stringbool({ truthy: ['true'], falsy: ['false'] }).default(false),
  /** What a receiver has for its whole answer. */
  DELIVERY_TIMEOUT_MS: z.coerce.number().int().min(100).max(15_000).default(15_000),
});
