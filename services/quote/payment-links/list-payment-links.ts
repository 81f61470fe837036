import { notFound } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import { scopeOf } from '../quotes/view.ts';
import { listPaymentLinkRows } from './store.ts';
import { type LinkAddress, showPaymentLink } from './view.ts';

type Deps = { reads: Reads; cursorKeys: readonly Buffer[] } & LinkAddress;

/** GET /v1/payment-links: those of a key's service, of an account, or of one of its services. */
export const listPaymentLinks = (deps: Deps): Handler<typeof quote.operations.listPaymentLinks> =>
  listHandler(deps, 'payment_links', {
    scope: ({ service_id }, caller) => {
      const scope = scopeOf(caller);
      if (scope.service_id !== null && service_id !== undefined && service_id !== scope.service_id)
        throw notFound('service');
      return { ...scope, service_id: scope.service_id ?? service_id ?? null };
    },
    rows: listPaymentLinkRows,
    place: (row) => row.payment_link_id,
    show: (rows) => rows.map((row) => showPaymentLink(deps, row)),
  });
