import { releaseCapped } from '../../../../shared/db/hourly-caps.ts';
import { sql } from '../../../../shared/db/pool.ts';
import { isExpired } from './transactions.ts';

/**
 * The daily budget of fees gets back what the payments of `changed` have reserved whose buyer did
 * not sign: their bytes have expired. Nothing else of them tells whether lamports were spent.
 */
const expiredFees = sql.fragment`
    select scope, date_trunc('day', (i.request ->> 'capped_at')::timestamptz, 'UTC'),
      (i.request ->> 'lamports')::bigint
    from changed join intents i using (intent_id) join transactions t using (intent_id)
    cross join lateral unnest(array['fees_incoming', 'fees_incoming/vendor/' || (i.request ->> 'account_id')]) as scope
    where i.kind = 'incoming' and jsonb_exists(i.request, 'lamports') and ${isExpired}`;

/**
 * Releases what the payments of `changed` have reserved of hourly caps. Their failure is a proof
 * that nothing moved, so the caps bound what they did before. Only payments of other clients and
 * outgoing ones have `capped_at`, the moment in whose hour they count: a payment of a quote is
 * signed again until it is paid, and its failure shows in no cap.
 */
export const releaseHourlyCaps = sql.fragment`, given_back as (
    select scope, date_trunc('hour', (i.request ->> 'capped_at')::timestamptz, 'UTC') as period,
      (i.request ->> 'amount')::bigint as micro
    from changed join intents i using (intent_id) cross join lateral unnest(case
      when i.kind = 'incoming' and jsonb_exists(i.request, 'signs_last')
        then array['incoming_last', 'incoming_last_account/' || (i.request ->> 'account_id')]
      when i.kind = 'incoming' then array['incoming', 'incoming_account/' || (i.request ->> 'account_id'),
        'incoming_source/' || (i.request ->> 'source_account')]
      when i.kind = 'outgoing' then array['environment', 'account/' || (i.request ->> 'account_id'),
        'wallet/' || (i.request ->> 'owner')]
      end) as scope
    where i.request ? 'capped_at'
    union all ${expiredFees}
  ), capped as (
    select scope, period, sum(micro)::bigint as micro from given_back group by 1, 2
  ), ${releaseCapped}`;
