import { boundedMap } from '../../bounded-map.ts';
import type { QuoteClaims } from '../../checks/tokens.ts';
import { QuoteTakenError } from './errors.ts';

const MAX_QUOTES = 1000;

/**
 * The records of this process that pay quotes. Vendors give one quote to many callers, and each
 * call buys for itself.
 */
export const createPayers = () => {
  const payers = boundedMap<string>(MAX_QUOTES);
  return {
    /** Records who pays a quote. */
    set: ({ quote_id }: QuoteClaims, recordId: string): void => {
      payers.set(quote_id, recordId);
    },
    /** @throws QuoteTakenError if another record of this process pays the quote */
    refuseTaken: (quote: QuoteClaims, recordId: string): void => {
      if ((payers.get(quote.quote_id) ?? recordId) !== recordId) throw new QuoteTakenError(quote);
    },
    /** The record does not pay the quote. */
    delete: ({ quote_id }: QuoteClaims, recordId: string): void => {
      if (payers.get(quote_id) === recordId) payers.delete(quote_id);
    },
  };
};
export type Payers = ReturnType<typeof createPayers>;
