import { z } from 'zod';
import { SecretBytes, serviceConfig } from '../../shared/lib/config.ts';

export const config = z.object({
  ...serviceConfig,
  CURSOR_KEY: SecretBytes,
  /**
   * How long a submit or a provision waits for the chain; 15 s is the promise of
   * docs/spec/decisions.md.
   */
  CHAIN_WAIT_MS: z.coerce.number().int().min(1000).max(15_000).default(15_000),
  /** How soon the watcher looks again at a wallet that is in use; an idle one is looked at less often. */
  WATCH_EVERY_MS: z.coerce.number().int().min(100).max(60_000).default(5000),
});
