import type { Records } from '../../../shared/boot.ts';
import { invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import type { Page } from '../../../shared/lists/page.ts';
import type { ServiceTerms } from '../terms.ts';
import { listDeclineRows } from './store.ts';
import { scopeOf, showDecline } from './view.ts';

/** GET /v1/declines: payments that were refused, newest first. */
export const listDeclines = (
  deps: Pick<Records, 'reads'> & Pick<ServiceTerms, 'cursorKeys'>,
): Handler<typeof settlement.operations.listDeclines> =>
  listHandler(deps, 'declines', {
    scope: ({ role, ...filters }, caller) => {
      if (role !== undefined && caller.kind !== 'jwt') throw invalid('role', 'is a filter for a JWT only');
      const scope = scopeOf(caller, role ?? 'payer');
      // Both belong to the payer: a vendor must not learn them by filtering.
      if (scope.as === 'service' || scope.as === 'vendor') {
        for (const name of ['delegate_id', 'code'] as const)
          if (filters[name] !== undefined) throw invalid(name, 'is a filter for the payer only');
      }
      return { ...filters, scope };
    },
    rows: async (db, wanted, page: Page) =>
      (await listDeclineRows(db, wanted, page)).map((row) => ({ row, scope: wanted.scope })),
    place: ({ row }) => row.decline_id,
    show: (rows) => rows.map(({ row, scope }) => showDecline(row, scope)),
  });
