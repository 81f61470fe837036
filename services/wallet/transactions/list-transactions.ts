import type { Handler } from '../../../shared/contract/service.ts';
import { parseUtcTime } from '../../../shared/contract/utc-time.ts';
import type { transactionOperations } from '../../../shared/contract/wallet/transactions.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import { scopeOf } from './scope.ts';
import * as transactions from './store/transactions.ts';
import { showTransaction } from './view.ts';

const msOrNull = (time: string | undefined): number | null =>
  time === undefined ? null : parseUtcTime(time);

/** GET /v1/transactions. */
export const listTransactions = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof transactionOperations.listTransactions> =>
  listHandler(deps, 'transactions', {
    scope: ({ from, to, ...filters }, caller) => ({
      ...filters,
      scope: scopeOf(caller),
      fromMs: msOrNull(from),
      toMs: msOrNull(to),
    }),
    rows: transactions.listTransactions,
    place: ({ created_at, object_id, direction }) => ({ created_at, object_id, direction }),
    show: (rows) => rows.map(showTransaction),
  });
