import { z } from 'zod';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { type Pool, sql } from '../../../shared/db/pool.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';

const Run = z.object({
  kind: z.string(),
  ok: z.boolean(),
  copy: z.string().nullable(),
  taken_at: z.number().nullable(),
  rows: z.bigint().transform(Number).nullable(),
  seconds: z.number(),
  problem: z.string().nullable(),
  finished_at: z.number(),
});
const Archived = z.object({ archived_at: z.number().nullable() });

/** What the jobs of copies have done, and when Postgres has archived a part of its log. */
export const listBackupRuns =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.listBackupRuns> =>
  async ({ limit }) => {
    const [runs, archivedAt] = await Promise.all([
      pool.any(sql.type(Run)`
        select kind, ok, copy, taken_at, rows, seconds, problem, finished_at
        from backup_runs order by run_id desc limit ${limit}`),
      pool.oneFirst(sql.type(Archived)`select last_archived_time as archived_at from pg_stat_archiver`),
    ]);
    return {
      archived_at: isoTimeOrNull(archivedAt),
      runs: runs.map(({ taken_at, finished_at, ...run }) => ({
        ...run,
        taken_at: isoTimeOrNull(taken_at),
        finished_at: isoTime(finished_at),
      })),
    };
  };
