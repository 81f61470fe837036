import { z } from 'zod';
import { JsonText, SecretList, serviceConfig } from '../../shared/lib/config.ts';
import { CoinbaseConfig } from './deposits/providers/coinbase.ts';
import { MoonpayConfig } from './deposits/providers/moonpay.ts';

export const config = z.object({
  ...serviceConfig,
  /**
   * True where chain-submitter holds a funding authority. Elsewhere dev/fund does not exist (404).
   */
  DEV_FUND: z.stringbool({ truthy: ['true'], falsy: ['false'] }).default(false),
  CURSOR_KEY: SecretList,
  /**
   * JSON. A provider without its setting is not offered. Sandbox and production differ in URLs and
   * keys alone.
   */
  MOONPAY: JsonText.pipe(MoonpayConfig).optional(),
  COINBASE: JsonText.pipe(CoinbaseConfig).optional(),
  /** How long a call waits for the chain. */
  CHAIN_WAIT_MS: z.coerce.number().int().min(1000).max(15_000).default(15_000),
});
export type Config = z.infer<typeof config>;
