import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

const Subsidy = z.object({
  own: z.boolean(),
  used_slot: z.bigint().nullable(),
  used: z.boolean(),
  creating: z.boolean(),
});

/**
 * What is known of an owner's token account at the platform's cost: whether this account has a grant for it, whether
 * anybody's grant has created it once (then at which slot), and whether signed bytes that create it may land.
 */
export const getSubsidy = (db: Db, accountId: string, owner: string): Promise<z.infer<typeof Subsidy>> =>
  db.one(sql.type(Subsidy)`
    select coalesce(bool_or(account_id = ${accountId}), false) as own,
      coalesce(bool_or(used_by is not null), false) as used, max(used_slot) as used_slot,
      exists (select from transactions where creates = ${owner} and status = 'live') as creating
    from grants where owner = ${owner}`);

/**
 * Takes one of the account's three places for an owner. The places are a unique key, so that racing takers can
 * never have a fourth; one that lost a place to a racer is told to look again.
 */
export const insertGrant = async (
  db: Db,
  accountId: string,
  owner: string,
): Promise<'granted' | 'full' | 'raced'> => {
  const { taken, granted } = await db.one(sql.type(z.object({ taken: z.bigint(), granted: z.boolean() }))`
    with places as (select place from grants where account_id = ${accountId}),
    added as (
      insert into grants (account_id, owner, place)
      select ${accountId}, ${owner}, p from generate_series(1, 3) p
      where p not in (select place from places) order by p limit 1
      on conflict do nothing returning place)
    select (select count(*) from places) as taken, exists (select from added) as granted`);
  if (granted) return 'granted';
  return taken >= 3n ? 'full' : 'raced';
};

const Grant = z.object({ used: z.boolean(), reserved: z.boolean() });

/** An account's grant for an owner, locked until the transaction ends. `used`: by whomever. Null: it has none. */
export const lockGrant = (tx: Db, accountId: string, owner: string): Promise<z.infer<typeof Grant> | null> =>
  tx.maybeOne(sql.type(Grant)`
    select exists (select from grants u where u.owner = g.owner and u.used_by is not null) as used,
      reserved_lamports is not null as reserved
    from grants g where account_id = ${accountId} and owner = ${owner} for update`);

type Reservation = { lamports: bigint; budget: string; on: number };

/**
 * Writes what was reserved for a locked grant, or with `reservation` null that what is reserved is kept for longer.
 * Times are epoch milliseconds.
 * @param by the intent whose bytes use it; null leaves that as it is
 */
export const updateReservation = (
  tx: Db,
  { accountId, owner }: { accountId: string; owner: string },
  { reservation, until, by }: { reservation: Reservation | null; until: number; by: string | null },
): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    update grants set reserved_lamports = coalesce(${reservation?.lamports ?? null}::bigint, reserved_lamports),
      reserved_budget = coalesce(${reservation?.budget ?? null}::text, reserved_budget),
      reserved_on = coalesce(to_timestamp(${reservation?.on ?? null}::float8 / 1000), reserved_on),
      reserved_until = greatest(reserved_until, to_timestamp(${until}::float8 / 1000)),
      reserved_by = coalesce(${by}::text, reserved_by)
    where account_id = ${accountId} and owner = ${owner}`);

/**
 * Releases what was reserved for promises that have lapsed: nobody signs for them any more, and no bytes that use them
 * may land.
 * @returns how many
 */
export const releaseLapsedReservations = (db: Db): Promise<bigint> =>
  db.oneFirst(sql.type(z.object({ released: z.bigint() }))`
    with lapsed as (
      select account_id, owner, reserved_lamports, reserved_budget, reserved_on from grants g
      where reserved_lamports is not null and reserved_until < app_now()
        and not exists (select from transactions t where t.intent_id = g.reserved_by and t.status = 'live')
      order by account_id, owner limit 1000 for update skip locked
    ), emptied as (
      update grants g set reserved_lamports = null, reserved_until = null, reserved_by = null
      from lapsed l where g.account_id = l.account_id and g.owner = l.owner
      returning l.*
    ), released as (
      select v.scope, e.reserved_on as period, sum(e.reserved_lamports) as lamports
      from emptied e, lateral (
        values (e.reserved_budget), (e.reserved_budget || '/account/' || e.account_id)) as v(scope)
      group by v.scope, e.reserved_on
    ), locked as (
      -- In the order of their scopes, as those who reserve lock them.
      select s.scope, s.period, r.lamports from spending s join released r using (scope, period)
      order by s.scope for update of s
    ), returned as (
      update spending s set taken = s.taken - l.lamports
      from locked l where s.scope = l.scope and s.period = l.period
    )
    select count(*) as released from emptied`);
