import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import type { Deps } from '../deps.ts';
import { readerOf } from '../refunding.ts';
import { listRefunds as list, type RefundRow } from '../store/refunds.ts';
import { showRefund } from '../transfer-view.ts';

/** GET /v1/refunds. */
export const listRefunds =
  ({ pool, cursorKey: key }: Deps): Handler<typeof funding.operations.listRefunds> =>
  async ({ settlement_id, status, ...input }, caller) => {
    const viewer = readerOf(caller);
    const binding = ['refunds', viewer, settlement_id, status];
    const limit = pageLimit(input.limit);
    const before = openCursor(key, binding, input.cursor);
    const rows = await list(pool, viewer, { settlement_id, status }, { before, limit });
    return pageOf(rows, limit, {
      ...{ key, binding, show: showRefund },
      idOf: (row: RefundRow) => row.refund_id,
    });
  };
