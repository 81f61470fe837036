import { z } from 'zod';
import { SecretList, serviceConfig } from '../../shared/lib/config.ts';

export const config = z.object({
  ...serviceConfig,
  CURSOR_KEY: SecretList,
  /** How long a submit or a provision waits for the chain; docs/spec/decisions.md promises 15 s. */
  CHAIN_WAIT_MS: z.coerce.number().int().min(1000).max(15_000).default(15_000),
  /**
   * The pause between two polls of a wallet that is in use. An idle wallet is polled less often.
   */
  WATCH_EVERY_MS: z.coerce.number().int().min(100).max(60_000).default(5000),
});
export type Config = z.infer<typeof config>;
