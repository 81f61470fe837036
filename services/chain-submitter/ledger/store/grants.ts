import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { isLive } from './transactions.ts';

/**
 * Parts of the statements of `./intents.ts`. A grant is used by the transaction that
 * created the token account, and unused again when a fork drops it.
 */
export const useGrants = sql.fragment`, used as (
    update grants g set used_by = changed.intent_id, used_slot = changed.slot,
      -- The rent is spent, so it is not released when the promise lapses.
      reserved_lamports = case when g.reserved_by = changed.intent_id then null else g.reserved_lamports end
    from changed
    join transactions t on t.intent_id = changed.intent_id and ${isLive} and t.creates is not null
    where t.intent_id = any(array(select intent_id from changed)) and g.owner = t.creates and g.used_by is null)`;
export const unuseGrants = sql.fragment`, unused as (
    update grants g set used_by = null, used_slot = null from changed where g.used_by = changed.intent_id)`;

const Subsidy = z.object({
  own: z.boolean(),
  used_slot: z.bigint().nullable(),
  used: z.boolean(),
  creating: z.boolean(),
});

/**
 * The subsidy of an owner's token account: whether this account has a grant for it, whether the
 * grant of any account has created it (and at which slot), and whether signed bytes that create it
 * may be included.
 */
export const getSubsidy = (db: Db, accountId: string, owner: string): Promise<z.infer<typeof Subsidy>> =>
  db.one(sql.type(Subsidy)`
    select coalesce(bool_or(account_id = ${accountId}), false) as own,
      coalesce(bool_or(used_by is not null), false) as used, max(used_slot) as used_slot,
      exists (select from transactions where creates = ${owner} and status = 'live') as creating
    from grants where owner = ${owner}`);

/**
 * Inserts a grant for an owner with one of the account's three permits. The permits are a unique
 * key, so concurrent calls never get a fourth. `conflict`: a concurrent call got the permit, and
 * the caller repeats.
 */
export const insertGrant = async (
  db: Db,
  accountId: string,
  owner: string,
): Promise<'granted' | 'exhausted' | 'conflict'> => {
  const { used, granted } = await db.one(sql.type(z.object({ used: z.bigint(), granted: z.boolean() }))`
    with permits as (select permit from grants where account_id = ${accountId}),
    added as (
      insert into grants (account_id, owner, permit)
      select ${accountId}, ${owner}, p from generate_series(1, 3) p
      where p not in (select permit from permits) order by p limit 1
      on conflict do nothing returning permit)
    select (select count(*) from permits) as used, exists (select from added) as granted`);
  if (granted) return 'granted';
  return used >= 3n ? 'exhausted' : 'conflict';
};

const Grant = z.object({ used: z.boolean(), reserved: z.boolean() });

/**
 * An account's grant for an owner, locked until the transaction ends; null without one. `used`: by
 * any account.
 */
export const lockGrant = (tx: Db, accountId: string, owner: string): Promise<z.infer<typeof Grant> | null> =>
  tx.maybeOne(sql.type(Grant)`
    select exists (select from grants u where u.owner = g.owner and u.used_by is not null) as used,
      reserved_lamports is not null as reserved
    from grants g where account_id = ${accountId} and owner = ${owner} for update`);

type Reservation = { lamports: bigint; budget: string; on: number };

/**
 * Updates the reservation of a locked grant. With `reservation` null the existing reservation is
 * only prolonged. Times are epoch milliseconds.
 * @param by the intent whose bytes use the reservation; null does not change it
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
 * Releases the reservations of lapsed promises: nothing is signed for them any more, and no bytes
 * that use them may be included.
 * @returns the number of reservations
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
      update spending s set reserved = s.reserved - l.lamports
      from locked l where s.scope = l.scope and s.period = l.period
    )
    select count(*) as released from emptied`);
