/** docs/spec/decisions.md, Shapes: test funds are free, but a call gives at most 10,000 USDC. */
export const MAX_DEV_FUND_MICRO = 10_000_000_000n;

/** Why an amount is refused, or null. */
export const devFundProblem = (amountMicro: bigint): string | null =>
  amountMicro <= MAX_DEV_FUND_MICRO ? null : `must be at most ${MAX_DEV_FUND_MICRO} micro-units a call`;
