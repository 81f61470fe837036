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

/**
 * How much an account may owe (docs/adr/0061): the first credit, and a multiple of what it ever
 * paid in fees, up to the later credit.
 */
export type Credit = { firstMicro: bigint; perPaid: bigint; laterMicro: bigint };
type Sums = { accrued: bigint; paid: bigint };

/** What an account owes. What it has paid beyond that counts for later fees. */
export const owedMicro = ({ accrued, paid }: Sums): bigint => (accrued > paid ? accrued - paid : 0n);

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** What an account may owe. `lockFeeAccounts` has the same rule in SQL. */
export const creditOf = (
  { paid }: Pick<Sums, 'paid'>,
  { firstMicro, perPaid, laterMicro }: Credit,
): bigint => {
  const later = least(paid * perPaid, laterMicro);
  return later > firstMicro ? later : firstMicro;
};

/** Whether the credit of an account suffices for one more fee. */
export const hasCreditFor = (sums: Sums, feeMicro: bigint, credit: Credit): boolean =>
  sums.accrued - sums.paid + feeMicro <= creditOf(sums, credit);
