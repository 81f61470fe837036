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

const Ages = z.object({
  backup_age: z.number().nullable(),
  archive_age: z.number().nullable(),
  drill_age: z.number().nullable(),
  drill_ok: z.boolean().nullable(),
});

/**
 * Seconds since the content of the last copy, since the last archived part of the log, and since
 * the last drill that succeeded; and whether the last drill did. Null: there was none.
 */
export const getBackupAges = (db: Db): Promise<z.infer<typeof Ages>> =>
  db.one(sql.type(Ages)`
    select
      (select extract(epoch from app_now() - max(taken_at)) from backup_runs where kind = 'backup' and ok)::float8
        as backup_age,
      (select extract(epoch from now() - last_archived_time) from pg_stat_archiver)::float8 as archive_age,
      (select extract(epoch from app_now() - max(finished_at)) from backup_runs where kind = 'drill' and ok)::float8
        as drill_age,
      (select ok from backup_runs where kind = 'drill' order by finished_at desc limit 1) as drill_ok`);
