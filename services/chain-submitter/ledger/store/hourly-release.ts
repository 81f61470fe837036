import { releaseCapped } from '../../../../shared/db/hourly-caps.ts';
import { sql } from '../../../../shared/db/pool.ts';

/**
 * Releases what the payments of `changed` have reserved of hourly caps. Their failure is a proof
 * that nothing moved, so the caps bound what they did before. Only payments of other clients and
 * outgoing ones have `capped_at`, the moment in whose hour they count: a payment of a quote is
 * signed again until it is paid, and its failure shows in no cap.
 */
export const releaseHourlyCaps = sql.fragment`, capped as (
    select scope, date_trunc('hour', (i.request ->> 'capped_at')::timestamptz, 'UTC') as period,
      sum((i.request ->> 'amount')::bigint)::bigint as micro
    from changed join intents i using (intent_id) cross join lateral unnest(case i.kind
      when 'incoming' then array['incoming', 'incoming_account/' || (i.request ->> 'account_id'),
        'incoming_source/' || (i.request ->> 'source_account')]
      when 'outgoing' then array['environment', 'account/' || (i.request ->> 'account_id'),
        'wallet/' || (i.request ->> 'owner')]
      end) as scope
    where i.request ? 'capped_at'
    group by 1, 2
  ), ${releaseCapped}`;
