import { sql } from '../../../../shared/db/pool.ts';
import { isLive } from './transactions.ts';

const SCOPE = sql.fragment`'incoming_failures/'`;

/**
 * Counts the payments of `changed` whose bytes fail on the chain, for the vendor account and the
 * UTC day. Bytes that expired are not live any more, and cost nothing. The common table expression
 * belongs to the statement that fails intents, whose other parts do not change this count.
 */
export const countIncomingFailures = sql.fragment`, failures as (
    insert into spending as f (scope, period, reserved)
    select ${SCOPE} || (i.request ->> 'account_id'), date_trunc('day', app_now(), 'UTC'), count(*)
    from changed join intents i using (intent_id) join transactions t using (intent_id)
    where i.kind = 'incoming' and ${isLive}
    group by 1 order by 1
    on conflict (scope, period) do update set reserved = f.reserved + excluded.reserved
  )`;

/** Query: payments to a vendor account that failed on the chain in this UTC day; no row: none. */
export const failuresOfVendor = (accountId: ReturnType<typeof sql.fragment>) => sql.fragment`
  select reserved from spending
  where scope = ${SCOPE} || ${accountId} and period = date_trunc('day', app_now(), 'UTC')`;
