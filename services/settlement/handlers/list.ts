import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import type { Deps } from '../deps.ts';
import { listSettlements, type SettlementRow } from '../store/settlements.ts';
import { showSettlement, viewerOf } from '../view.ts';

/** GET /v1/settlements; `?payment_attempt_id=` is the cheap way to wait for a pending payment. */
export const list =
  (deps: Deps): Handler<typeof settlement.operations.list> =>
  async ({ cursor, limit: limitText, role, status, service_id, payment_attempt_id }, caller) => {
    if (role !== undefined && caller.kind !== 'jwt') {
      throw new ServiceError('validation_error', 'role: only a JWT has two roles', {
        details: [{ path: 'role', message: 'only a JWT has two roles' }],
      });
    }
    // An attempt id is the payer's own: a vendor must not learn or probe it.
    if (payment_attempt_id !== undefined && (caller.kind === 'service_key' || role === 'vendor')) {
      throw new ServiceError('validation_error', 'payment_attempt_id: is for the payer', {
        details: [{ path: 'payment_attempt_id', message: 'is for the payer' }],
      });
    }
    const viewer = viewerOf(caller, role ?? 'payer');
    const filters = { status, service_id, payment_attempt_id };
    const binding = ['settlements', viewer, status ?? null, service_id ?? null, payment_attempt_id ?? null];
    const limit = pageLimit(limitText);
    const before = openCursor(deps.cursorKey, binding, cursor);
    const rows = await listSettlements(deps.pool, viewer, filters, { before, limit });
    return pageOf(rows, limit, {
      key: deps.cursorKey,
      binding,
      idOf: (row: SettlementRow) => row.settlement_id,
      show: (row: SettlementRow) => showSettlement(row, caller),
    });
  };
