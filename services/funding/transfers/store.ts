import { z } from 'zod';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import { refunds } from './model/refund.ts';
import type { TransferEvent } from './model/transfer.ts';
import { withdrawals } from './model/withdrawal.ts';

/** What withdrawals and refunds have in common: the columns of a transfer's way. */
export type Kind = 'withdrawal' | 'refund';

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

/** The columns of both as they are read, times in epoch milliseconds; `waiting` is the status before the owner signs. */
export const transferShape = <W extends string>(waiting: W) => ({
  amount: z.bigint(),
  destination_address: z.string(),
  destination_token_account: z.string(),
  status: z.enum([waiting, 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired']),
  tx_hash: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
  created_at: z.number(),
  pending_until: z.number(),
  // Of the moment of reading: past its life it counts as expired before the job has marked it.
  elapsed: z.boolean(),
});
export const transferColumns = sql.fragment`amount, destination_address, destination_token_account, status, tx_hash,
  failure_code, failure_message, created_at, pending_until, pending_until <= app_now() as elapsed`;

/** What remains of a list that was asked for one status: the one that a reader sees. */
export const andStatusIs = (kind: Kind, status: string | undefined) =>
  status === undefined
    ? sql.fragment``
    : sql.fragment`and case when ${TABLES[kind].isWaiting} and pending_until <= app_now()
        then 'expired' else status end = ${status}`;

/**
 * Takes over how far a transfer has come, unless more is known; true when it changed. The slot
 * stays what the last confirmation said, so that a failure after it is known for a transfer that
 * was undone.
 */
export const transitionTransfer = async (db: Db, kind: Kind, fact: Progress): Promise<boolean> => {
  const { table, id, state } = TABLES[kind];
  const { status } = fact;
  const failure =
    status === 'failed'
      ? (fact.failure ?? { code: 'payment_failed', message: 'the transaction failed' })
      : null;
  const landedSlot = status === 'confirmed' || status === 'finalized' ? fact.slot : null;
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update ${table} set status = ${state.after(status)}, generation = ${fact.generation},
      tx_hash = coalesce(${fact.tx_hash}, tx_hash), slot = coalesce(${landedSlot}::bigint, slot),
      failure_code = ${failure?.code ?? null}, failure_message = ${failure?.message ?? null},
      progressed_at = app_now()
    where ${id} = ${fact.object_id} and generation <= ${fact.generation} and ${state.allows(status)}`);
  return rowCount > 0;
};

/** Ends a transfer that waits for its owner. False when it does not wait any more. */
export const endTransfer = async (
  db: Db,
  kind: Kind,
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
 * Claims transfers that somebody has to look after: those that waited for their owner until their life was over, and
 * those under way without progress (15 s; longer once confirmed, since finality takes its time).
 */
export const claimDueTransfers = (
  db: Db,
  kind: Kind,
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
