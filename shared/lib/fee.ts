import { z } from 'zod';

/**
 * fee = max(amount × bps / 10,000, minimum), rounded down (docs/spec/interface.md, Fee rule;
 * docs/spec/decisions.md, Shapes).
 */
export type FeeRule = { bps: bigint; minMicro: bigint };

/**
 * The settings of the rule. Each service that knows the fee reads them, and all need the same
 * values.
 */
export const feeConfig = {
  FEE_BPS: z.coerce.bigint().min(0n).max(10_000n).default(50n),
  FEE_MIN_MICRO: z.coerce.bigint().min(0n).default(10_000n),
};

/** The rule of the settings. */
export const feeRuleOf = (config: { FEE_BPS: bigint; FEE_MIN_MICRO: bigint }): FeeRule => ({
  bps: config.FEE_BPS,
  minMicro: config.FEE_MIN_MICRO,
});

/** The fee in micro-units. The vendor absorbs it out of the gross amount. */
export const feeMicro = (amountMicro: bigint, { bps, minMicro }: FeeRule): bigint => {
  const share = (amountMicro * bps) / 10_000n;
  return share > minMicro ? share : minMicro;
};

/**
 * What the vendor receives of an amount, in micro-units. 0 if the fee takes all of it: such an
 * amount cannot be quoted.
 */
export const netMicro = (amountMicro: bigint, rule: FeeRule): bigint => {
  const net = amountMicro - feeMicro(amountMicro, rule);
  return net > 0n ? net : 0n;
};
