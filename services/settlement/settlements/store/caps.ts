import { sql } from '../../../../shared/db/pool.ts';
import { limitsOf } from '../../delegates/store.ts';

/** Joins CTE `candidate` of an acceptance to the row of CTE `delegate` that limits it. */
export const isLimitedBy = sql.fragment`delegate.delegate_id = ${limitsOf('candidate')}
  and delegate.account_id = candidate.account_id`;

/** The limits of a sign-in do not bind a person who has just signed in. They still count. */
const unlessFresh = (cap: ReturnType<typeof sql.fragment>) =>
  sql.fragment`case when candidate.is_fresh then null else ${cap} end`;
const perPayment = unlessFresh(sql.fragment`delegate.per_payment`);
const dailyLeft = unlessFresh(sql.fragment`delegate.daily_left`);

/** The caps that bind a candidate and what is left of them; null: none. */
export const capsOf = sql.fragment`${perPayment} as per_payment, delegate.daily, ${dailyLeft} as daily_left,
  delegate.monthly, delegate.monthly_left, delegate.total, delegate.total_left`;

/** The decisions about a candidate that a cap refuses, in rank order; an account has two. */
export const overCap = sql.fragment`
  when ${perPayment} < candidate.quote_amount
    then case when candidate.delegate_id is null then 'over_account_per_payment' else 'over_per_payment' end
  when ${dailyLeft} < candidate.quote_amount
    then case when candidate.delegate_id is null then 'over_account_daily' else 'over_daily' end
  when delegate.monthly_left < candidate.quote_amount then 'over_monthly'
  when delegate.total_left < candidate.quote_amount then 'over_total'`;

/**
 * Whether the wallet has no snapshot, or its account no limits. Both are stored together
 * (`upsertPayer`), so nothing is accepted from an account without limits.
 */
export const isPayerUnknown = sql.fragment`(payer.wallet_id is null
  or candidate.delegate_id is null and delegate.delegate_id is null)`;
