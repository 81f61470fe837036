import type { z } from 'zod';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Transaction, transactionOperations } from '../../../shared/contract/wallet.transactions.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { derivedId } from '../../../shared/lib/id.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { shareMicro } from '../domain/transaction.ts';
import { listOf, type Place, type TransactionRow } from '../store/transactions.ts';
import { viewerOf } from '../view.ts';

const placeText = ({ created_at, object_id, direction }: Place): string =>
  `${created_at} ${object_id} ${direction}`;

/** The place of a cursor that was made here: `openCursor` has seen to that. */
const placeOf = (text: string): Place => {
  const [createdAt, object_id, direction] = text.split(' ') as [string, string, Place['direction']];
  return { created_at: Number(createdAt), object_id, direction };
};

/** The id is made of what it names, so that a projection that is built anew gives every transaction its old one. */
const show = (row: TransactionRow): z.infer<typeof Transaction> => ({
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
export const listTransactions =
  (deps: Deps): Handler<typeof transactionOperations.listTransactions> =>
  async ({ cursor, limit: limitText, from, to, service_id, delegate_id, ...sides }, caller) => {
    const viewer = viewerOf(caller);
    const { type, direction, status } = sides;
    const asked = [type, direction, status, service_id, delegate_id, from, to].map((each) => each ?? null);
    const binding = ['transactions', viewer, ...asked];
    const limit = pageLimit(limitText);
    const after = openCursor(deps.cursorKey, binding, cursor);
    const filters = {
      ...sides,
      serviceId: service_id,
      delegateId: delegate_id,
      fromMs: msOrNull(from),
      toMs: msOrNull(to),
    };
    const before = after === null ? null : placeOf(after);
    const rows = await listOf(deps.pool, viewer, filters, { before, limit });
    return pageOf(rows, limit, { key: deps.cursorKey, binding, idOf: placeText, show });
  };
