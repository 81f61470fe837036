/** Who reads about a payment. */
export type Side = 'vendor' | 'payer';

/** Where a settlement is shown to its vendor, or to its payer. */
export const pathOf = (side: Side, settlementId: string): string =>
  side === 'vendor' ? `/sales/${settlementId}` : `/payments/${settlementId}`;
