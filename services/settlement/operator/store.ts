import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

const Row = z.object({ paused_at: z.number().nullable() });

/** Since when new payments are paused; null: they are not. */
export const getPausedAt = (db: Db): Promise<number | null> =>
  db.oneFirst(sql.type(Row)`select paused_at from intake`);

/** The same, with the row locked until the transaction ends. */
export const lockPausedAt = (tx: Db): Promise<number | null> =>
  tx.oneFirst(sql.type(Row)`select paused_at from intake for update`);

/** Pauses or resumes payments; returns since when they are paused. */
export const updatePausedAt = (tx: Db, paused: boolean): Promise<number | null> =>
  tx.oneFirst(sql.type(Row)`
    update intake set paused_at = ${paused ? sql.fragment`app_now()` : sql.fragment`null`} returning paused_at`);

/** For how many seconds payments have been paused; 0: they are not. */
export const getPausedSeconds = (db: Db): Promise<number> =>
  db.oneFirst(sql.type(z.object({ seconds: z.number() }))`
    select coalesce(extract(epoch from app_now() - paused_at), 0)::float8 as seconds from intake`);
