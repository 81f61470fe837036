import { type Db, sql } from '../../../../shared/db/pool.ts';

/**
 * How late a renewal may be: long enough for a slow database, and short enough that other workers
 * soon claim a dead worker's intents.
 */
const LATE_MS = 2000;

/**
 * Renews the registration of this worker. Its leases hold until the registration lapses.
 * @param nextWithinMs the longest time until the next renewal
 */
export const upsertWorker = (db: Db, workerId: string, nextWithinMs: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with gone as (delete from workers where alive_until < app_now() - interval '1 hour')
    insert into workers (worker_id, alive_until) values (${workerId}, app_now() + make_interval(secs => ${(nextWithinMs + LATE_MS) / 1000}::float8))
    on conflict (worker_id) do update set alive_until = excluded.alive_until`);

/** Deletes the registration of a worker that stops, which ends all of its leases. */
export const deleteWorker = (db: Db, workerId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from workers where worker_id = ${workerId}`);
