import { z } from 'zod';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { refundSteps } from '../domain/refund.ts';
import type { Event } from '../domain/transfer.ts';
import { withdrawalSteps } from '../domain/withdrawal.ts';

/** What withdrawals and refunds have in common: the columns of a transfer's way. */
export type Kind = 'withdrawal' | 'refund';

const TABLES = {
  withdrawal: {
    table: 'withdrawals',
    id: 'withdrawal_id',
    waiting: 'pending_approval',
    steps: withdrawalSteps,
  },
  refund: { table: 'refunds', id: 'refund_id', waiting: 'pending_signature', steps: refundSteps },
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
    : sql.fragment`and case when status = ${TABLES[kind].waiting} and pending_until <= app_now()
        then 'expired' else status end = ${status}`;

const parts = (kind: Kind, event: Event) => {
  const { table, id, steps } = TABLES[kind];
  const { to, from } = steps[event];
  return {
    table: sql.identifier([table]),
    id: sql.identifier([id]),
    to,
    from: sql.array([...from], 'text'),
  };
};

/**
 * Takes over how far a transfer has come, unless more is known; true when it moved. The slot stays what the last
 * confirmation said, so that a failure after it is known for a transfer that was undone.
 */
export const advanceTransfer = async (db: Db, kind: Kind, fact: Progress): Promise<boolean> => {
  const { table, id, to, from } = parts(kind, fact.status);
  const failure =
    to === 'failed' ? (fact.failure ?? { code: 'payment_failed', message: 'the transaction failed' }) : null;
  const landedSlot = to === 'confirmed' || to === 'finalized' ? fact.slot : null;
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update ${table} set status = ${to}, generation = ${fact.generation},
      tx_hash = coalesce(${fact.tx_hash}, tx_hash), slot = coalesce(${landedSlot}::bigint, slot),
      failure_code = ${failure?.code ?? null}, failure_message = ${failure?.message ?? null},
      progressed_at = app_now()
    where ${id} = ${fact.object_id} and generation <= ${fact.generation} and status = any(${from})`);
  return rowCount > 0;
};

/** Ends a transfer that waits for its owner. False when it does not wait any more. */
export const endTransfer = async (
  db: Db,
  kind: Kind,
  objectId: string,
  event: 'cancel' | 'elapse',
): Promise<boolean> => {
  const { table, id, to, from } = parts(kind, event);
  const row = await db.maybeOne(sql.typeAlias('id')`
    update ${table} set status = ${to}, progressed_at = app_now()
    where ${id} = ${objectId} and status = any(${from})
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
  const { table, id, waiting } = TABLES[kind];
  const [rows, key] = [sql.identifier([table]), sql.identifier([id])];
  return db.any(sql.type(Due)`
    update ${rows} set progressed_at = app_now()
    where ${key} in (
      select ${key} from ${rows}
      where (status = ${waiting} and pending_until <= app_now() and progressed_at < app_now() - interval '5 seconds')
        or (status = 'submitted' and progressed_at < app_now() - interval '15 seconds')
        or (status = 'confirmed' and progressed_at < app_now() - interval '45 seconds')
      order by progressed_at limit ${limit} for update skip locked)
    returning ${key} as id, status = ${waiting} as waiting`);
};
