/** Slots whose fees count: eight seconds of the real network. */
const NEWEST_SLOTS = 20;
/** A quarter of the newest slots was dearer. */
const SHARE = 0.75;
/** What a transaction offers at least after an earlier one has expired, micro-lamports per unit. */
const LEAST_AFTER_EXPIRY = 1_000n;

/** The smallest price that was included in a slot, micro-lamports per compute unit. */
export type RecentFee = { slot: number; prioritizationFee: number };

/**
 * The price of a transaction from the recent fees of the accounts that it writes. Each expired
 * generation doubles it, because bytes that were not included may have offered too little.
 * @param generation the number of transactions that were signed for this intent before
 * @param most the price is never above this
 */
export const priorityPrice = (recent: readonly RecentFee[], generation: number, most: bigint): bigint => {
  const newest = [...recent].sort((a, b) => b.slot - a.slot).slice(0, NEWEST_SLOTS);
  const fees = newest.map(({ prioritizationFee }) => prioritizationFee).sort((a, b) => a - b);
  const usual = BigInt(fees[Math.max(0, Math.ceil(fees.length * SHARE) - 1)] ?? 0);
  const least = generation === 0 ? 0n : LEAST_AFTER_EXPIRY;
  const price = (usual > least ? usual : least) << BigInt(generation);
  return price < most ? price : most;
};
