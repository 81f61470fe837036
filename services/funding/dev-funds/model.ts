/** docs/spec/decisions.md, Shapes: test funds are free, but one call sends at most 10,000 USDC. */
const MAX_DEV_FUND_MICRO = 10_000_000_000n;

/** Why an amount is refused, or null when it is allowed. */
export const devFundProblem = (amountMicro: bigint): string | null =>
  amountMicro <= MAX_DEV_FUND_MICRO ? null : `must be at most ${MAX_DEV_FUND_MICRO} micro-units a call`;
