import { z } from 'zod';
import { type Db, sql } from '../db/pool.ts';
import type { Lane, Replica, State } from './model.ts';

/** How late a renewal may be. */
const LATE_MS = 2000;

const Read = z.object({
  replicas: z.array(z.object({ replica_id: z.string(), load: z.number() })),
  lanes: z.array(z.object({ lane: z.number(), replica_id: z.string().nullable() })),
  moved_ms_ago: z.number(),
});

const Running = z.object({ replica_id: z.string(), load: z.number(), lanes: z.array(z.number()) });

/**
 * Renews the lease of a replica, and reads who owns which lane.
 * @param nextWithinMs the longest time until the next renewal
 */
export const renewReplica = async (
  db: Db,
  { replica_id, load }: Replica,
  nextWithinMs: number,
): Promise<State> => {
  const { replicas, lanes, moved_ms_ago } = await db.one(sql.type(Read)`
    with gone as (delete from replicas where expires_at < app_now() - interval '1 hour'), renewed as (
      insert into replicas (replica_id, load, expires_at)
      values (${replica_id}, ${load}, app_now() + make_interval(secs => ${(nextWithinMs + LATE_MS) / 1000}::float8))
      on conflict (replica_id) do update set load = excluded.load, expires_at = excluded.expires_at
    )
    select
      (select coalesce(jsonb_agg(jsonb_build_object('replica_id', replica_id, 'load', load)), '[]'::jsonb)
        from replicas where expires_at > app_now()) as replicas,
      (select jsonb_agg(jsonb_build_object('lane', lane, 'replica_id', replica_id) order by lane) from lanes) as lanes,
      (select extract(epoch from app_now() - max(moved_at))::float8 * 1000 from lanes) as moved_ms_ago`);
  return { replicas, lanes, movedMsAgo: moved_ms_ago };
};

/** The running replicas with their lanes, owners first. */
export const listReplicas = (db: Db): Promise<readonly z.infer<typeof Running>[]> =>
  db.any(sql.type(Running)`
    select replica_id, load, array(select lane from lanes l where l.replica_id = r.replica_id order by lane) as lanes
    from replicas r where expires_at > app_now()
    order by (select count(*) from lanes l where l.replica_id = r.replica_id) desc, replica_id`);

/**
 * Takes lanes of those who own them as far as this replica knows.
 * @returns those that it got
 */
export const takeLanes = async (db: Db, replicaId: string, wanted: readonly Lane[]): Promise<number[]> => {
  const taken = await db.any(sql.type(z.object({ lane: z.number() }))`
    with wanted as (
      select lane from lanes join jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w(lane integer, replica_id text)
        using (lane)
      where lanes.replica_id is not distinct from w.replica_id
      order by lane for update of lanes
    )
    update lanes set replica_id = ${replicaId}, moved_at = app_now()
    from wanted where lanes.lane = wanted.lane returning lanes.lane`);
  return taken.map(({ lane }) => lane);
};

/** Ends the lease of a replica that stops. Another one takes its lanes. */
export const deleteReplica = (db: Db, replicaId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from replicas where replica_id = ${replicaId}`);
