import { z } from 'zod';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import type { TransferKind } from './model/pending.ts';
import { refunds } from './model/refund.ts';
import type { TransferEvent } from './model/transfer.ts';
import { withdrawals } from './model/withdrawal.ts';

/**
 * The statements that withdrawals and refunds have in common: both tables have the same columns.
 */

export const withdrawalState = stateColumn(withdrawals);
export const refundState = stateColumn(refunds);

const TABLES = {
  withdrawal: {
    table: sql.identifier(['withdrawals']),
    id: sql.identifier(['withdrawal_id']),
    state: withdrawalState,
    isWaiting: withdrawalState.is('pending_approval'),
  },
  refund: {
    table: sql.identifier(['refunds']),
    id: sql.identifier(['refund_id']),
    state: refundState,
    isWaiting: refundState.is('pending_signature'),
  },
} as const;

/**
 * The columns of both tables as they are read. Times are epoch milliseconds; `waiting` is the
 * status before the owner signs.
 */
export const transferShape = <W extends string>(waiting: W) => ({
  amount: z.bigint(),
  destination_address: z.string(),
  destination_token_account: z.string(),
  status: z.enum([waiting, 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired']),
  tx_hash: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
  created_at: z.number(),
  confirmed_at: z.number().nullable(),
  pending_until: z.number(),
  // Computed when the row is read: a transfer is expired before the sweep has recorded it.
  elapsed: z.boolean(),
});
export const transferColumns = sql.fragment`amount, destination_address, destination_token_account, status, tx_hash,
  failure_code, failure_message, created_at, confirmed_at, pending_until, pending_until <= app_now() as elapsed`;

/**
 * Narrows a list to one status, as it is shown: a transfer is expired before the sweep records it.
 */
export const andStatusIs = (kind: TransferKind, status: string | undefined) =>
  status === undefined
    ? sql.fragment``
    : sql.fragment`and case when ${TABLES[kind].isWaiting} and pending_until <= app_now()
        then 'expired' else status end = ${status}`;

/**
 * Records the progress of a transfer, unless later progress is recorded. The slot is that of the
 * last confirmation, which distinguishes a failure after a confirmation from a transfer that never
 * happened. The time is that of the first one, so that a transfer stays in its month of the books.
 * @returns whether the transfer changed
 */
export const transitionTransfer = async (
  db: Db,
  kind: TransferKind,
  progress: Progress,
): Promise<boolean> => {
  const { table, id, state } = TABLES[kind];
  const { object_id, status, generation, tx_hash } = progress;
  const failure =
    status === 'failed'
      ? (progress.failure ?? { code: 'payment_failed', message: 'the transaction failed' })
      : null;
  const includedSlot = status === 'confirmed' || status === 'finalized' ? progress.slot : null;
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update ${table} set status = ${state.after(status)}, generation = ${generation},
      tx_hash = coalesce(${tx_hash}, tx_hash), slot = coalesce(${includedSlot}::bigint, slot),
      confirmed_at = coalesce(confirmed_at, ${includedSlot === null ? sql.fragment`null` : sql.fragment`app_now()`}),
      failure_code = ${failure?.code ?? null}, failure_message = ${failure?.message ?? null},
      progressed_at = app_now()
    where ${id} = ${object_id} and generation <= ${generation} and ${state.allows(status)}`);
  return rowCount > 0;
};

/**
 * Cancels or expires a transfer that waits for its owner's signature.
 * @returns false when it does not wait any more
 */
export const closeTransfer = async (
  db: Db,
  kind: TransferKind,
  objectId: string,
  event: Extract<TransferEvent, 'cancel' | 'elapse'>,
): Promise<boolean> => {
  const { table, id, state } = TABLES[kind];
  const row = await db.maybeOne(sql.typeAlias('id')`
    update ${table} set status = ${state.after(event)}, progressed_at = app_now()
    where ${id} = ${objectId} and ${state.allows(event)}
    returning ${id} as id`);
  return row !== null;
};

const Due = z.object({ id: z.string(), waiting: z.boolean() });

/**
 * Claims the transfers that are due for the sweep: those that wait for their owner and whose life
 * is over, and those that make no progress for 15 s, or for 45 s once they are confirmed, because
 * finality takes longer.
 */
export const claimDueTransfers = (
  db: Db,
  kind: TransferKind,
  limit: number,
): Promise<readonly z.infer<typeof Due>[]> => {
  const { table, id, state, isWaiting } = TABLES[kind];
  return db.any(sql.type(Due)`
    update ${table} set progressed_at = app_now()
    where ${id} in (
      select ${id} from ${table}
      where (${isWaiting} and pending_until <= app_now() and progressed_at < app_now() - interval '5 seconds')
        or (${state.is('submitted')} and progressed_at < app_now() - interval '15 seconds')
        or (${state.is('confirmed')} and progressed_at < app_now() - interval '45 seconds')
      order by progressed_at limit ${limit} for update skip locked)
    returning ${id} as id, ${isWaiting} as waiting`);
};
