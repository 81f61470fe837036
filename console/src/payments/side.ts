/** Who reads about a payment. */
export type Side = 'vendor' | 'payer';
