import { z } from 'zod';
import type { FeeRule } from './fee.ts';

/**
 * The settings of the rule. Each service that knows the fee reads them, and all need the same
 * values.
 */
export const feeConfig = {
  FEE_BPS: z.coerce.bigint().min(0n).max(10_000n).default(50n),
  FEE_MIN_MICRO: z.coerce.bigint().min(0n).default(10_000n),
};

/** What compares fees with the lamports that a payment costs. */
export const solPriceConfig = {
  /** Price of one SOL in micro-units of USDC. */
  SOL_PRICE_MICRO: z.coerce.bigint().min(1n).default(200_000_000n),
};

/** The rule of the settings. */
export const feeRuleOf = (config: { FEE_BPS: bigint; FEE_MIN_MICRO: bigint }): FeeRule => ({
  bps: config.FEE_BPS,
  minMicro: config.FEE_MIN_MICRO,
});
