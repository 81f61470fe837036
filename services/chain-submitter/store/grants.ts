import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

const Standing = z.object({
  own: z.boolean(),
  used_slot: z.bigint().nullable(),
  used: z.boolean(),
});

/**
 * What is known of an owner's token account at the platform's cost: whether this account has a grant for it, and
 * whether anybody's grant has created it once (then at which slot).
 */
export const grantStanding = (db: Db, accountId: string, owner: string): Promise<z.infer<typeof Standing>> =>
  db.one(sql.type(Standing)`
    select coalesce(bool_or(account_id = ${accountId}), false) as own,
      coalesce(bool_or(used_by is not null), false) as used, max(used_slot) as used_slot
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
