/** Status of a quote, from its record and the time. Settlement decides whether it is paid; this only tells. */
export type QuoteStatus = 'pending' | 'settling' | 'settled' | 'expired';

/** Steps of a settlement as they are stored; store/quotes.ts says which follows which. */
export const STEP = { accepted: 1, failed: 2, issued: 3 } as const;
/** How far a settlement of a quote has come. */
export type Step = { quote_id: string; settlement_id: string; step: (typeof STEP)[keyof typeof STEP] };

/**
 * @param step how far the last settlement came, null without one
 */
export const quoteStatus = (step: number | null, expiresAt: number, now: number): QuoteStatus => {
  if (step === STEP.issued) return 'settled';
  if (step === STEP.accepted) return 'settling';
  return expiresAt <= now ? 'expired' : 'pending';
};
