import { notFound } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { scopeOf } from '../quotes/view.ts';
import { findPaymentLink } from './store.ts';
import { type LinkAddress, showPaymentLink } from './view.ts';

/** GET /v1/payment-links/:payment_link_id. */
export const getPaymentLink =
  (deps: { pool: Pool } & LinkAddress): Handler<typeof quote.operations.getPaymentLink> =>
  async ({ payment_link_id }, caller) => {
    const row = await findPaymentLink(deps.pool, scopeOf(caller), payment_link_id);
    if (row === null) throw notFound('payment link');
    return showPaymentLink(deps, row);
  };
