/**
 * The fee of an x402 payment, which its one transfer of the exact amount cannot carry, so that it
 * accrues on the vendor's account (docs/adr/0043). All amounts are micro-units or lamports.
 */
export type AccruedFeeRule = {
  bps: bigint;
  minMicro: bigint;
  /** Micro-units of USDC for one SOL. */
  solPriceMicro: bigint;
};

const LAMPORTS_PER_SOL = 1_000_000_000n;

/**
 * The largest of the share, the minimum and the cost of the transaction, so that no payment costs
 * the platform more than it earns.
 */
export const accruedFeeMicro = (
  amountMicro: bigint,
  lamports: bigint,
  { bps, minMicro, solPriceMicro }: AccruedFeeRule,
): bigint => {
  const share = (amountMicro * bps) / 10_000n;
  const cost = (lamports * solPriceMicro + LAMPORTS_PER_SOL - 1n) / LAMPORTS_PER_SOL;
  return [minMicro, cost].reduce((most, each) => (each > most ? each : most), share);
};
