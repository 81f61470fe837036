/**
 * fee = max(amount × bps / 10,000, minimum), rounded down (docs/spec/interface.md, Fee rule;
 * docs/spec/decisions.md, Shapes).
 */
export type FeeRule = { bps: bigint; minMicro: bigint };

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
