import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

const Run = z.object({ age_seconds: z.number(), drift: z.bigint().transform(Number) });

/** The newest comparison of chain and records (tools/reconcile.ts). Null: there was none. */
export const findLastReconcile = (db: Db): Promise<z.infer<typeof Run> | null> =>
  db.maybeOne(sql.type(Run)`
    select extract(epoch from app_now() - began_at)::float8 as age_seconds, (broken + lacking)::bigint as drift
    from reconcile_runs order by run_id desc limit 1`);
