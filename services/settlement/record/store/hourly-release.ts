import { type Counted, releaseCapped, scopePrefix } from '../../../../shared/db/hourly-caps.ts';
import { sql } from '../../../../shared/db/pool.ts';

/**
 * Common table expressions after `changed`: what an outgoing payment has reserved of the hourly
 * caps returns when it is proven that it does not move, and what an authorization has reserved of
 * those of authorizations when it ends. A vendor decides whether it sends a payment and when it
 * ends an authorization, so it could otherwise use up the hour of its payer. Other payments have no
 * `capped_at`.
 * @param amount of a row, which the caps have counted
 */
export const releaseHourlyCaps = (
  counts: Counted,
  amount: ReturnType<typeof sql.fragment>,
) => sql.fragment`capped as (
    select ${sql.literalValue(scopePrefix(counts))} || cap.scope as scope,
      date_trunc('hour', changed.capped_at, 'UTC') as period, sum(${amount})::bigint as micro
    from changed join payers p on p.wallet_id = changed.wallet_id
    cross join lateral unnest(array['environment', 'account/' || changed.account_id, 'wallet/' || p.owner]) as cap (scope)
    where changed.capped_at is not null
    group by 1, 2
  ), ${releaseCapped}`;
