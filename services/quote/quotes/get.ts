import { notFound } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { findQuote } from './store.ts';
import { scopeOf, showQuote } from './view.ts';

/** GET /v1/quotes/:quote_id. */
export const get =
  ({ pool, clock }: { pool: Pool; clock: Clock }): Handler<typeof quote.operations.get> =>
  async ({ quote_id }, caller) => {
    const row = await findQuote(pool, scopeOf(caller), quote_id);
    if (row === null) throw notFound('quote');
    return showQuote(row, clock());
  };
