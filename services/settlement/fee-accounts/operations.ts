import type { Records } from '../../../shared/boot.ts';
import type { Peers } from '../peers.ts';
import type { ServiceTerms } from '../terms.ts';
import { createFeeQuote } from './create-fee-quote.ts';
import { getFees } from './get-fees.ts';
import type { Credit } from './model.ts';

/** The operations of this noun. */
export const feeAccountOperations = (
  deps: Pick<Records, 'pool'> &
    Pick<ServiceTerms, 'feeWallet'> &
    Pick<Peers, 'quoteFees'> & { credit: Credit },
) => ({
  createFeeQuote: createFeeQuote(deps),
  getFees: getFees(deps),
});
