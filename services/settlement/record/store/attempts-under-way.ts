import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { isOutgoingPayment, isUnderWay } from './conditions.ts';

const UnderWay = z.object({
  /** Null: the total of all states. */
  state: z.enum(['pending', 'confirmed', 'reopened', 'authorized']).nullable(),
  attempts: z.bigint(),
  /** Seconds. Of an outgoing payment those after the time in which its vendor may use it. */
  oldest_age: z.number(),
  held: z.bigint(),
  holding_wallets: z.bigint(),
});
type UnderWay = z.infer<typeof UnderWay>;

/** For so long a vendor may use an outgoing payment, which says nothing about our services. */
const USABLE_FOR = sql.fragment`interval '2 minutes'`;

/**
 * Attempts that are not terminal, by state and in total. The query uses the partial indexes of the
 * resume jobs, so it reads only open rows. `held` equals the sum of the payers' `held`, whose table
 * has a row for every wallet that ever paid.
 */
export const countAttemptsUnderWay = (db: Db): Promise<readonly UnderWay[]> =>
  db.any(sql.type(UnderWay)`
    select state, count(*) as attempts,
      greatest(0, coalesce(extract(epoch from app_now() - min(expected_since)), 0))::float8 as oldest_age,
      coalesce(sum(quote_amount) filter (where holding), 0)::bigint as held,
      count(distinct wallet_id) filter (where holding) as holding_wallets
    from (
      select quote_amount, holding, wallet_id,
        under_way_since + case when ${isOutgoingPayment} then ${USABLE_FOR} else interval '0' end as expected_since,
        case when chain_status = 'confirmed' then 'confirmed' when issued_at is null then 'pending' else 'reopened' end as state
      from settlements where ${isUnderWay}
      union all
      -- It is late only after it is due.
      select ceiling, true, wallet_id, due_at, 'authorized' from authorizations where due_at is not null
    ) as open
    group by grouping sets ((state), ())`);
