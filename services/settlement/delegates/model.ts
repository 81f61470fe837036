/** What a cap leaves. 0: it was lowered below what is held or spent. Null: there is no cap. */
export const remainingMicro = (cap: bigint | null, heldMicro: bigint, spentMicro: bigint): bigint | null => {
  if (cap === null) return null;
  const left = cap - heldMicro - spentMicro;
  return left > 0n ? left : 0n;
};

/** The next UTC midnight and the next first of a month, both epoch milliseconds. */
export const resetTimes = (now: number): { daily: number; monthly: number } => {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  // Date.UTC normalizes a day 32 or a month 13.
  return { daily: Date.UTC(year, month, day + 1), monthly: Date.UTC(year, month + 1, 1) };
};

/**
 * What a plain sign-in may pay unless its owner has set other limits, in micro-units. They bound
 * what a stolen session costs. A payment of an API fits in them (docs/adr/0063).
 */
export const DEFAULT_ACCOUNT_LIMITS = { perPaymentMicro: 10_000_000n, dailyMicro: 25_000_000n } as const;
