import { type Db, sql } from '../../../../shared/db/pool.ts';

/** Long enough for a slow database, short enough that a killed worker's intents are soon another's. */
const ALIVE_FOR = '3 seconds';

/** Says that this worker lives; its leases hold as long. */
export const upsertWorker = (db: Db, workerId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with gone as (delete from workers where alive_until < app_now() - interval '1 hour')
    insert into workers (worker_id, alive_until) values (${workerId}, app_now() + ${ALIVE_FOR}::interval)
    on conflict (worker_id) do update set alive_until = excluded.alive_until`);

/** Ends all leases of a worker that stops. */
export const deleteWorker = (db: Db, workerId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from workers where worker_id = ${workerId}`);
