import { invalid } from '../../../shared/contract/errors.ts';
import { cellOf, ownCell } from '../../../shared/lib/cell.ts';

/**
 * The claim of a quote (docs/design/settle.md). In the quote's cell nothing is written here: the
 * commit of the acceptance is the claim (rule 2). Claims across cells do not exist yet, so a quote
 * of another cell is refused: that cell could accept a payment of it as well.
 * @throws ServiceError validation_error
 */
export const claimQuote = (quoteId: string): void => {
  if (cellOf(quoteId) !== ownCell())
    throw invalid('quote_token', 'is a quote of another cell, which this one cannot pay');
};
