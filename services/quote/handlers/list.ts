import { ServiceError } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import type { Deps } from '../deps.ts';
import { listQuotes, type QuoteRow } from '../store/quotes.ts';
import { ownerOf, showQuote } from '../view.ts';

/** GET /v1/quotes: a key sees its service's, an owner's JWT the account's or those of one service. */
export const list =
  (deps: Deps): Handler<typeof quote.operations.list> =>
  async (input, caller) => {
    const owner = ownerOf(caller);
    if (
      owner.service_id !== null &&
      input.service_id !== undefined &&
      input.service_id !== owner.service_id
    ) {
      throw new ServiceError('not_found', 'no such service');
    }
    const seen = { ...owner, service_id: owner.service_id ?? input.service_id ?? null };
    const binding = ['quotes', seen.account_id, seen.service_id, input.status ?? null];
    const limit = pageLimit(input.limit);
    const before = openCursor(deps.cursorKey, binding, input.cursor);
    const rows = await listQuotes(deps.pool, seen, { before, limit, status: input.status });
    const now = deps.clock();
    return pageOf(rows, limit, {
      key: deps.cursorKey,
      binding,
      idOf: (row: QuoteRow) => row.quote_id,
      show: (row: QuoteRow) => showQuote(row, now),
    });
  };
