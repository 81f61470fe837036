import type { z } from 'zod';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Transaction, transactionOperations } from '../../../shared/contract/wallet.transactions.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { derivedId } from '../../../shared/lib/id.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { listHandler } from '../../../shared/lists/list.ts';
import type { Deps } from '../deps.ts';
import { viewerOf } from '../wallets/view.ts';
import { shareMicro } from './model/transaction.ts';
import * as transactions from './store.ts';

/** The id is made of what it names, so that a projection that is built anew gives every transaction its old one. */
const show = (row: transactions.TransactionRow): z.infer<typeof Transaction> => ({
  transaction_id: derivedId('txn', row.object_id, row.direction),
  type: row.type,
  direction: row.direction,
  amount: formatMicro(shareMicro(row.direction, row.amount, row.fee_amount)),
  fee_amount: formatMicro(row.fee_amount),
  status: row.status,
  tx_hash: row.tx_hash,
  object_id: row.object_id,
  service_id: row.service_id,
  delegate_id: row.delegate_id,
  created_at: isoTime(row.created_at),
});

const msOrNull = (time: string | undefined): number | null => (time === undefined ? null : Date.parse(time));

/** GET /v1/transactions. */
export const listTransactions = (deps: Deps): Handler<typeof transactionOperations.listTransactions> =>
  listHandler(deps, 'transactions', {
    scope: ({ from, to, ...filters }, caller) => ({
      ...filters,
      viewer: viewerOf(caller),
      fromMs: msOrNull(from),
      toMs: msOrNull(to),
    }),
    rows: transactions.listTransactions,
    place: ({ created_at, object_id, direction }) => ({ created_at, object_id, direction }),
    show: (rows) => rows.map(show),
  });
