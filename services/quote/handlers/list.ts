import { notFound } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import type { Deps } from '../deps.ts';
import { listQuotes } from '../store/quotes.ts';
import { ownerOf, showQuote } from '../view.ts';

/** GET /v1/quotes: a key sees its service's, an owner's JWT the account's or those of one service. */
export const list = (deps: Deps): Handler<typeof quote.operations.list> =>
  listHandler(deps, 'quotes', {
    scope: ({ service_id, status }, caller) => {
      const owner = ownerOf(caller);
      if (owner.service_id !== null && service_id !== undefined && service_id !== owner.service_id) {
        throw notFound('service');
      }
      return { ...owner, service_id: owner.service_id ?? service_id ?? null, status };
    },
    rows: listQuotes,
    place: (row) => row.quote_id,
    show: (rows) => {
      const now = deps.clock();
      return rows.map((row) => showQuote(row, now));
    },
  });
