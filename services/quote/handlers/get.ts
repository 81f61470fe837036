import { notFound } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { findQuote } from '../store/quotes.ts';
import { ownerOf, showQuote } from '../view.ts';

/** GET /v1/quotes/:quote_id. */
export const get =
  (deps: Deps): Handler<typeof quote.operations.get> =>
  async ({ quote_id }, caller) => {
    const row = await findQuote(deps.pool, ownerOf(caller), quote_id);
    if (row === null) throw notFound('quote');
    return showQuote(row, deps.clock());
  };
