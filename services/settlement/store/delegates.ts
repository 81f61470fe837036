import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

const cap = z.bigint().nullable();
const Row = z.object({
  delegate_id: z.string(),
  version: z.number(),
  per_payment: cap,
  daily: cap,
  monthly: cap,
  total: cap,
  allowed_service_ids: z.array(z.string()).nullable(),
  day_held: z.bigint(),
  day_spent: z.bigint(),
  month_held: z.bigint(),
  month_spent: z.bigint(),
  total_held: z.bigint(),
  total_spent: z.bigint(),
  /** The database's clock when the row was read. */
  now: z.number(),
});
export type DelegateRow = z.infer<typeof Row>;

/** UTC, whatever the session's time zone is. */
const today = sql.fragment`(app_now() at time zone 'utc')::date`;
const thisMonth = sql.fragment`date_trunc('month', app_now() at time zone 'utc')::date`;
/** A counter of a day or month that is over counts nothing. A statement that began before midnight may run after one
 * that began later, so the counters may be ahead of its clock, and never go back. */
const ofToday = (value: ReturnType<typeof sql.fragment>) =>
  sql.fragment`case when day >= ${today} then ${value} else 0 end`;
const ofThisMonth = (value: ReturnType<typeof sql.fragment>) =>
  sql.fragment`case when month >= ${thisMonth} then ${value} else 0 end`;

const columns = sql.fragment`delegate_id, version, per_payment, daily, monthly, total, allowed_service_ids,
  ${ofToday(sql.fragment`day_held`)} as day_held, ${ofToday(sql.fragment`day_spent`)} as day_spent,
  ${ofThisMonth(sql.fragment`month_held`)} as month_held, ${ofThisMonth(sql.fragment`month_spent`)} as month_spent,
  total_held, total_spent, app_now() as now`;

export type Caps = Pick<DelegateRow, 'per_payment' | 'daily' | 'monthly' | 'total'> & {
  delegate_id: string;
  allowed_service_ids: readonly string[] | null;
};

/**
 * Sets the caps of a delegate whose version is the expected one (0: there is none yet), or null. Counters stay: a
 * lowered cap undoes nothing.
 */
export const putCaps = (
  db: Db,
  accountId: string,
  caps: Caps,
  expectedVersion: number,
): Promise<DelegateRow | null> => {
  const allowed = caps.allowed_service_ids === null ? null : sql.array([...caps.allowed_service_ids], 'uuid');
  return expectedVersion === 0
    ? db.maybeOne(sql.type(Row)`
        insert into delegates (delegate_id, account_id, version, per_payment, daily, monthly, total,
          allowed_service_ids, day, month)
        values (${caps.delegate_id}, ${accountId}, 1, ${caps.per_payment}, ${caps.daily}, ${caps.monthly},
          ${caps.total}, ${allowed}, ${today}, ${thisMonth})
        on conflict do nothing
        returning ${columns}`)
    : db.maybeOne(sql.type(Row)`
        update delegates set version = version + 1, per_payment = ${caps.per_payment}, daily = ${caps.daily},
          monthly = ${caps.monthly}, total = ${caps.total}, allowed_service_ids = ${allowed}
        where delegate_id = ${caps.delegate_id} and account_id = ${accountId} and version = ${expectedVersion}
        returning ${columns}`);
};

/** The account's delegates among these ids; another's do not exist for it. */
export const findDelegateRows = (
  db: Db,
  accountId: string,
  ids: readonly string[],
): Promise<readonly DelegateRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from delegates
    where account_id = ${accountId} and delegate_id = any(${sql.array([...ids], 'text')})`);

/** CTE `delegate` of accepting: the row, locked, with what it has used; `day` is the day the attempt counts in. */
export const lockedDelegate = (accountId: string, delegateId: string) => sql.fragment`
  select per_payment, daily, monthly, total, allowed_service_ids, greatest(day, ${today}) as day,
    ${ofToday(sql.fragment`day_held + day_spent`)} as day_used,
    ${ofThisMonth(sql.fragment`month_held + month_spent`)} as month_used,
    total_held + total_spent as total_used
  from delegates
  where delegate_id = ${delegateId} and account_id = ${accountId} and not exists (select from known)
  for update`;

/** Takes a hold; a first payment of a new day or month begins its counters. The row is locked, so these are its newest. */
export const holdDelegate = (delegateId: string, gross: bigint) => sql.fragment`
  update delegates set
    day_held = ${ofToday(sql.fragment`day_held`)} + ${gross}, day_spent = ${ofToday(sql.fragment`day_spent`)},
    month_held = ${ofThisMonth(sql.fragment`month_held`)} + ${gross},
    month_spent = ${ofThisMonth(sql.fragment`month_spent`)},
    total_held = total_held + ${gross},
    day = greatest(day, ${today}), month = greatest(month, ${thisMonth})
  where delegate_id = ${delegateId} and exists (select from inserted)
  returning delegate_id`;

/**
 * CTE that moves a payment's amount between the counters, for what the statement's CTE `changed` returns
 * (delegate_id, delegate_day, quote_amount). A counter of a day or month that is over is not touched: it is gone.
 * @param to signs of the amount in held and spent
 */
export const moveDelegate = (to: {
  held: ReturnType<typeof sql.fragment>;
  spent: ReturnType<typeof sql.fragment>;
}) => {
  const held = sql.fragment`(${to.held}) * changed.quote_amount`;
  const spent = sql.fragment`(${to.spent}) * changed.quote_amount`;
  const sameDay = sql.fragment`delegates.day = changed.delegate_day`;
  const sameMonth = sql.fragment`delegates.month = date_trunc('month', changed.delegate_day)::date`;
  return sql.fragment`
    update delegates set
      day_held = day_held + case when ${sameDay} then ${held} else 0 end,
      day_spent = day_spent + case when ${sameDay} then ${spent} else 0 end,
      month_held = month_held + case when ${sameMonth} then ${held} else 0 end,
      month_spent = month_spent + case when ${sameMonth} then ${spent} else 0 end,
      total_held = total_held + ${held},
      total_spent = total_spent + ${spent}
    from changed where delegates.delegate_id = changed.delegate_id
    returning delegates.delegate_id`;
};
