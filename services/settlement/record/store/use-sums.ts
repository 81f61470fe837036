import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { chainState, consumableFor, state } from './conditions.ts';

/*
 * The keys of uses and of consumptions make calls repeatable. Once nobody repeats a call any more,
 * sums per second replace all keys of a settlement, in one statement and one commit. So a read of
 * one statement has either the keys or the sums.
 */

/** How long the keys stay after the end of their settlement. */
export const KEPT_DAYS = 30;
/** Until when a settlement must have ended. */
const endedBy = sql.fragment`app_now() - ${sql.interval({ days: KEPT_DAYS })}`;

/** Part of the settlements that have keys, in the order of their ids. */
type Walk = {
  /** The id of the settlement before the first one. */
  after: string;
  /** A younger settlement cannot be old enough. */
  before: string;
  limit: number;
};

const Walked = z.object({ next: z.string().nullable() });

/** CTE `walked`: each settlement with keys, by one read of the primary key. */
const walkedOf = (keys: ReturnType<typeof sql.fragment>, { after, before, limit }: Walk) => {
  const nextAfter = (id: ReturnType<typeof sql.fragment>) => sql.fragment`(
    select settlement_id from ${keys} as k where k.settlement_id > ${id} and k.settlement_id < ${before}
    order by k.settlement_id limit 1)`;
  return sql.fragment`
    select ${nextAfter(sql.fragment`${after}`)} as settlement_id, 1 as ord
    union all
    select ${nextAfter(sql.fragment`walked.settlement_id`)}, ord + 1 from walked
    where walked.settlement_id is not null and ord < ${limit}`;
};

const nextOf = ({ limit }: Walk) =>
  sql.fragment`select case when count(settlement_id) = ${limit} then max(settlement_id) end as next from walked`;

/**
 * Replaces the uses of authorizations that ended at least 30 days ago by their sums. A settlement
 * that another replica purges now is skipped.
 * @returns the `after` of the next call. Null: all were walked
 */
export const purgeUses = (db: Db, walk: Walk): Promise<string | null> =>
  db.oneFirst(sql.type(Walked)`
    with recursive walked as (${walkedOf(sql.fragment`uses`, walk)}), ended as (
      select s.settlement_id from walked join settlements as s using (settlement_id)
      join authorizations as a using (settlement_id)
      where (${state.is('voided')} or ${chainState.is('finalized', 'failed')})
        and coalesce(voided_at, progressed_at) <= ${endedBy}
      for no key update of s skip locked
    ), purged as (
      delete from uses where settlement_id in (select settlement_id from ended)
      returning settlement_id, amount_pico, created_at
    ), summed as (
      insert into use_sums (settlement_id, second, uses, amount_pico)
      select settlement_id, date_trunc('second', created_at), count(*), sum(amount_pico) from purged group by 1, 2
    )
    ${nextOf(walk)}`);

/**
 * Replaces the consumptions of settlements whose units could be consumed until 30 days ago or
 * longer by their sums. A settlement that another replica purges now is skipped.
 * @returns the `after` of the next call. Null: all were walked
 */
export const purgeConsumptions = (db: Db, walk: Walk): Promise<string | null> =>
  db.oneFirst(sql.type(Walked)`
    with recursive walked as (${walkedOf(sql.fragment`consumptions`, walk)}), ended as (
      select s.settlement_id from walked join settlements as s using (settlement_id)
      where ${chainState.is('finalized', 'failed')} and redeemed_at <= ${endedBy} - ${consumableFor}
      for no key update of s skip locked
    ), purged as (
      delete from consumptions where settlement_id in (select settlement_id from ended)
      returning settlement_id, units, created_at
    ), summed as (
      insert into consumption_sums (settlement_id, second, requests, units)
      select settlement_id, date_trunc('second', created_at), count(*), sum(units) from purged group by 1, 2
    )
    ${nextOf(walk)}`);
