import { z } from 'zod';
import { SecretList, serviceConfig } from '../../shared/lib/config.ts';

export const config = z.object({
  ...serviceConfig,
  /** Encrypt the secrets of endpoints, which are encrypted anew when the first one changes. */
  SECRETS_KEY: SecretList,
  CURSOR_KEY: SecretList,
  /**
   * Allows http and private addresses, for a stack on one machine. Elsewhere it would give
   * customers access to the internal network.
   */
  ALLOW_PRIVATE_TARGETS: z.stringbool({ truthy: ['true'], falsy: ['false'] }).default(false),
  /** The time within which a receiver must answer completely. */
  DELIVERY_TIMEOUT_MS: z.coerce.number().int().min(100).max(15_000).default(15_000),
});
export type Config = z.infer<typeof config>;
