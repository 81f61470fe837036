import type { z } from 'zod';
import type { Transaction } from '../../../shared/contract/wallet/transactions.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { derivedId } from '../../../shared/lib/id.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { shareMicro } from './model/transaction.ts';
import type { TransactionRow } from './store/transactions.ts';

/**
 * A transaction as one of its sides reads it. Its id is derived from the object and the side, so
 * that a rebuild of the projection gives every transaction the same id again.
 */
export const showTransaction = (row: TransactionRow): z.infer<typeof Transaction> => ({
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
  item: row.item,
  created_at: isoTime(row.created_at),
});
