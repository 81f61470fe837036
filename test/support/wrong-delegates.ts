/**
 * Finds delegates, and accounts for what a sign-in pays, whose counters differ from the sum of
 * their settlements. It shares no code with the statements that change the counters.
 */
export const WRONG_DELEGATES = `
  select 'delegate ' || d.delegate_id as what from delegates d
  left join (
    select *, coalesce(delegate_id, account_id) as limits_of, chain_status in ('confirmed', 'finalized') as landed
    from settlements) s on s.limits_of = d.delegate_id
  group by d.delegate_id having d.total_held <> coalesce(sum(quote_amount) filter (where holding), 0)
    or d.total_spent <> coalesce(sum(quote_amount) filter (where landed), 0)
    or d.month_held <> coalesce(sum(quote_amount) filter (where holding and date_trunc('month', delegate_day) = month), 0)
    or d.month_spent <> coalesce(sum(quote_amount) filter (where landed and date_trunc('month', delegate_day) = month), 0)
    or d.day_held <> coalesce(sum(quote_amount) filter (where holding and delegate_day = day), 0)
    or d.day_spent <> coalesce(sum(quote_amount) filter (where landed and delegate_day = day), 0)`;
