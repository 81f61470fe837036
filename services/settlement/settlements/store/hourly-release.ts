import { releaseCapped } from '../../../../shared/db/hourly-caps.ts';
import { sql } from '../../../../shared/db/pool.ts';

/**
 * Common table expressions after `changed`: what an outgoing payment or an authorization has
 * reserved of the hourly caps returns when it is proven or decided that it does not move. A vendor
 * decides whether it sends or captures a payment, so it could otherwise use up the hour of its
 * payer. Other payments have no `capped_at`.
 */
export const releaseHourlyCaps = sql.fragment`capped as (
    select cap.scope, date_trunc('hour', changed.capped_at, 'UTC') as period, sum(changed.quote_amount)::bigint as micro
    from changed join payers p on p.wallet_id = changed.wallet_id
    cross join lateral unnest(array['environment', 'account/' || changed.account_id, 'wallet/' || p.owner]) as cap (scope)
    where changed.capped_at is not null
    group by 1, 2
  ), ${releaseCapped}`;
