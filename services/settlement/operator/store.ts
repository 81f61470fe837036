import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

const Row = z.object({ paused_at: z.number().nullable() });

/** Since when no new payment is taken, null while they are. */
export const getPausedAt = (db: Db): Promise<number | null> =>
  db.oneFirst(sql.type(Row)`select paused_at from intake`);

/** The same, locked until the transaction ends. */
export const lockPausedAt = (tx: Db): Promise<number | null> =>
  tx.oneFirst(sql.type(Row)`select paused_at from intake for update`);

/** Pauses or resumes; returns since when it is paused. */
export const updatePausedAt = (tx: Db, paused: boolean): Promise<number | null> =>
  tx.oneFirst(sql.type(Row)`
    update intake set paused_at = ${paused ? sql.fragment`app_now()` : sql.fragment`null`} returning paused_at`);

/** For how many seconds it has been paused, 0 while it is not. */
export const getPausedSeconds = (db: Db): Promise<number> =>
  db.oneFirst(sql.type(z.object({ seconds: z.number() }))`
    select coalesce(extract(epoch from app_now() - paused_at), 0)::float8 as seconds from intake`);
