import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { failuresOfVendor } from '../../ledger/store/incoming-failures.ts';
import { isPaying } from './intents.ts';

/** As in the index intents_incoming_by_vendor: only payments of MPP have a leg for the fee. */
const isOfMpp = sql.fragment`${isPaying} and jsonb_array_length(i.request -> 'legs') > 1`;

/** As in `Limits` of limits/fee-budgets.ts. */
export type VendorLimits = { incoming_failures: bigint; incoming_first_failures: bigint };

const Room = z.object({ allowance: z.bigint(), room: z.bigint() });
type Room = z.infer<typeof Room>;

/**
 * What payments of MPP may cost for vendor accounts, in their order. Nothing accrues for such a
 * payment that fails on the chain, so only fees that the account has brought pay for it.
 * `allowance`: how many may fail in a UTC day, and one more for each that was confirmed in the last
 * day. `room`: how many more may be under way, because all of them may fail in one moment.
 * @param asking at most so many payments of an account ask together
 */
export const listVendorRoom = (
  db: Db,
  accountIds: readonly string[],
  { incoming_first_failures: first, incoming_failures: most }: VendorLimits,
  asking: number,
): Promise<readonly Room[]> =>
  db.any(sql.type(Room)`
    select least(${first}::bigint + paid.payments, ${most}) as allowance,
      least(${first}::bigint + paid.payments, ${most}) - bad.failed - under_way.payments as room
    from unnest(${sql.array([...accountIds], 'text')}) with ordinality as q(account_id, position)
    cross join lateral (
      select coalesce((${failuresOfVendor(sql.fragment`q.account_id`)}), 0)::bigint as failed
    ) as bad
    cross join lateral (
      select count(*) as payments from intents i
      where ${isOfMpp} and i.request ->> 'account_id' = q.account_id and i.slot is null
    ) as under_way
    cross join lateral (
      -- So many are enough, and an account may have received a million.
      select count(*) as payments from (
        select i.created_at from intents i
        where ${isOfMpp} and i.request ->> 'account_id' = q.account_id and i.slot is not null
        order by i.slot desc limit bad.failed + under_way.payments + ${asking}
      ) as newest
      where created_at > app_now() - interval '1 day'
    ) as paid
    order by q.position`);

/** What the payments of one account may cost, if one more asks. */
export const getVendorRoom = async (db: Db, accountId: string, limits: VendorLimits): Promise<Room> =>
  (await listVendorRoom(db, [accountId], limits, 1))[0]!;
