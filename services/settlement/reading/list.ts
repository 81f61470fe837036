import type { Records } from '../../../shared/boot.ts';
import { invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import { getPayerAddresses } from '../payers/store.ts';
import { listSettlements } from '../record/store/settlements.ts';
import { scopeOf, showSettlement } from '../record/view.ts';
import type { ServiceTerms } from '../terms.ts';

/** GET /v1/settlements; `?payment_attempt_id=` is the cheapest way to poll a pending payment. */
export const list = (
  deps: Pick<Records, 'pool' | 'reads'> & Pick<ServiceTerms, 'cursorKeys'>,
): Handler<typeof settlement.operations.list> =>
  listHandler(deps, 'settlements', {
    scope: ({ role, ...filters }, caller) => {
      if (role !== undefined && caller.kind !== 'jwt') throw invalid('role', 'is a filter for a JWT only');
      // An attempt id belongs to the payer: a vendor must not learn or guess it.
      if (filters.payment_attempt_id !== undefined && (caller.kind === 'service_key' || role === 'vendor')) {
        throw invalid('payment_attempt_id', 'is a filter for the payer only');
      }
      return { ...filters, scope: scopeOf(caller, role ?? 'payer') };
    },
    rows: listSettlements,
    place: (row) => row.settlement_id,
    show: async (rows, caller) => {
      const payers = await getPayerAddresses(deps.pool, rows);
      return rows.map((row, at) => showSettlement(row, caller, payers[at]!));
    },
  });
