import { notFound } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import { listQuotes } from './store.ts';
import { scopeOf, showQuote } from './view.ts';

type Deps = { reads: Reads; clock: Clock; cursorKeys: readonly Buffer[] };

/**
 * GET /v1/quotes: a service key lists the quotes of its service, a JWT those of the account or of
 * one service.
 */
export const list = ({ reads, clock, cursorKeys }: Deps): Handler<typeof quote.operations.list> =>
  listHandler({ reads, cursorKeys }, 'quotes', {
    scope: ({ service_id, status }, caller) => {
      const scope = scopeOf(caller);
      if (scope.service_id !== null && service_id !== undefined && service_id !== scope.service_id) {
        throw notFound('service');
      }
      return { ...scope, service_id: scope.service_id ?? service_id ?? null, status };
    },
    rows: listQuotes,
    place: (row) => row.quote_id,
    show: (rows) => {
      const now = clock();
      return rows.map((row) => showQuote(row, now));
    },
  });
