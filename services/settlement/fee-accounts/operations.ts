import { createFeeQuote } from './create-fee-quote.ts';
import { getFees } from './get-fees.ts';

type Deps = Parameters<typeof createFeeQuote>[0] & Parameters<typeof getFees>[0];

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const feeAccountOperations = (deps: Deps) => ({
  createFeeQuote: createFeeQuote(deps),
  getFees: getFees(deps),
});
