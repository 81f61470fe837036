import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

const Row = z.object({ paused: z.boolean() });

/**
 * Whether nothing may be signed: the operator has paused it, or the server of the database has
 * started since the chain was compared with the record (reads/compare-records.ts).
 */
export const isStoppedNow = sql.fragment`(paused or coalesce(compared_start <> pg_postmaster_start_time(), false))`;

/** Whether nothing may be signed, and the clock of the database: columns beside an intent's. */
export const moment = sql.fragment`(select ${isStoppedNow} from settings) as paused, app_now() as read_at`;

/** Whether nothing may be signed now. */
export const isStopped = (db: Db): Promise<boolean> =>
  db.oneFirst(sql.type(Row)`select ${isStoppedNow} as paused from settings`);

/** Whether all signing is paused, by an operator or for lost records. */
export const isPaused = (db: Db): Promise<boolean> => db.oneFirst(sql.type(Row)`select paused from settings`);

/** Whether all signing is paused, locked until the transaction ends. */
export const lockPaused = (tx: Db): Promise<boolean> =>
  tx.oneFirst(sql.type(Row)`select paused from settings for update`);

/** Pauses or resumes all signing; returns whether it is paused. */
export const updatePaused = (tx: Db, paused: boolean): Promise<boolean> =>
  tx.oneFirst(sql.type(Row)`update settings set paused = ${paused} returning paused`);
