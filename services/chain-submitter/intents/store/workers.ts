import { type Db, sql } from '../../../../shared/db/pool.ts';

/**
 * Long enough for a slow database, and short enough that other workers soon claim a dead worker's
 * intents.
 */
const ALIVE_FOR = '3 seconds';

/** Renews the registration of this worker. Its leases hold until the registration lapses. */
export const upsertWorker = (db: Db, workerId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with gone as (delete from workers where alive_until < app_now() - interval '1 hour')
    insert into workers (worker_id, alive_until) values (${workerId}, app_now() + ${ALIVE_FOR}::interval)
    on conflict (worker_id) do update set alive_until = excluded.alive_until`);

/** Deletes the registration of a worker that stops, which ends all of its leases. */
export const deleteWorker = (db: Db, workerId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from workers where worker_id = ${workerId}`);
