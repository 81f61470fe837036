import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import type { Deps } from '../deps.ts';
import { readerOf } from './refunds.ts';
import * as refunds from './store/refunds.ts';
import { showRefund } from './view.ts';

/** GET /v1/refunds. */
export const listRefunds = (deps: Deps): Handler<typeof funding.operations.listRefunds> =>
  listHandler(deps, 'refunds', {
    scope: (filters, caller) => ({ ...filters, viewer: readerOf(caller) }),
    rows: refunds.listRefunds,
    place: (row) => row.refund_id,
    show: (rows) => rows.map(showRefund),
  });
