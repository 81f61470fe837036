import { invalid } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import { readScope } from './refund-scope.ts';
import * as refunds from './store/refunds.ts';
import { showRefund } from './view.ts';

/** GET /v1/refunds. */
export const listRefunds = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof funding.operations.listRefunds> =>
  listHandler(deps, 'refunds', {
    scope: ({ role, ...filters }, caller) => {
      if (role !== undefined && caller.kind !== 'jwt') throw invalid('role', 'is a filter for a JWT only');
      return { ...filters, scope: readScope(caller, role) };
    },
    rows: refunds.listRefunds,
    place: (row) => row.refund_id,
    show: (rows) => rows.map(showRefund),
  });
