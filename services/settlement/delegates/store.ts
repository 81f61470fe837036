import { z } from 'zod';
import { type CapName, type CountedCap, LIMITS, type Period } from '../../../shared/contract/limits.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { DEFAULT_ACCOUNT_LIMITS } from './model.ts';

const cap = z.bigint().nullable();
const Row = z.object({
  delegate_id: z.string(),
  version: z.number(),
  per_payment: cap,
  daily: cap,
  monthly: cap,
  total: cap,
  allowed_service_ids: z.array(z.string()).nullable(),
  external: z.boolean(),
  // Null: any address, any origin.
  external_pay_to: z.array(z.string()).nullable(),
  external_origins: z.array(z.string()).nullable(),
  approval_above: cap,
  paused: z.boolean(),
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

/** The counters of a period: their columns are `<counter>_held` and `<counter>_spent`. */
const COUNTERS = { day: 'day', month: 'month', ever: 'total' } as const satisfies Record<Period, string>;

/** What the period of a limit has used, in a row. */
export const usedOf = (row: DelegateRow, name: CountedCap): { held: bigint; spent: bigint } => {
  const counter = COUNTERS[LIMITS[name].counts];
  return { held: row[`${counter}_held`], spent: row[`${counter}_spent`] };
};

/**
 * The row that counts a payment: that of its delegate, or the one of the account for what a sign-in
 * pays (`insertAccountLimits`).
 */
export const limitsOf = (table: string) => {
  const from = sql.identifier([table]);
  return sql.fragment`coalesce(${from}.delegate_id, ${from}.account_id)`;
};

/** In UTC, independent of the session's time zone. */
const today = sql.fragment`(app_now() at time zone 'utc')::date`;
const thisMonth = sql.fragment`date_trunc('month', app_now() at time zone 'utc')::date`;
/**
 * A counter of a day or month that is over counts as zero. A statement that began before midnight
 * may run after one that began later. The counters may therefore be ahead of its clock, and never
 * go back.
 */
const ofToday = (value: ReturnType<typeof sql.fragment>) =>
  sql.fragment`case when day >= ${today} then ${value} else 0 end`;
const ofThisMonth = (value: ReturnType<typeof sql.fragment>) =>
  sql.fragment`case when month >= ${thisMonth} then ${value} else 0 end`;

const columns = sql.fragment`delegate_id, version, per_payment, daily, monthly, total, allowed_service_ids,
  external, external_pay_to, external_origins, approval_above, paused,
  ${ofToday(sql.fragment`day_held`)} as day_held, ${ofToday(sql.fragment`day_spent`)} as day_spent,
  ${ofThisMonth(sql.fragment`month_held`)} as month_held, ${ofThisMonth(sql.fragment`month_spent`)} as month_spent,
  total_held, total_spent, app_now() as now`;

type Caps = Pick<
  DelegateRow,
  | CapName
  | 'delegate_id'
  | 'allowed_service_ids'
  | 'external'
  | 'external_pay_to'
  | 'external_origins'
  | 'approval_above'
  | 'paused'
>;
const arrayOf = (values: readonly string[] | null, type: 'uuid' | 'text') =>
  values === null ? null : sql.array([...values], type);

/**
 * Sets the caps of a delegate that has the expected version (0: it does not exist yet). Null: it
 * has another version. Counters do not change: a lowered cap reverses no payment.
 */
export const upsertCaps = (
  db: Db,
  accountId: string,
  caps: Caps,
  expectedVersion: number,
): Promise<DelegateRow | null> => {
  const allowed = arrayOf(caps.allowed_service_ids, 'uuid');
  const payTo = arrayOf(caps.external_pay_to, 'text');
  const origins = arrayOf(caps.external_origins, 'text');
  return expectedVersion === 0
    ? db.maybeOne(sql.type(Row)`
        insert into delegates (delegate_id, account_id, version, per_payment, daily, monthly, total,
          allowed_service_ids, external, external_pay_to, external_origins, approval_above, paused, day, month)
        values (${caps.delegate_id}, ${accountId}, 1, ${caps.per_payment}, ${caps.daily}, ${caps.monthly},
          ${caps.total}, ${allowed}, ${caps.external}, ${payTo}, ${origins}, ${caps.approval_above}, ${caps.paused},
          ${today}, ${thisMonth})
        on conflict do nothing
        returning ${columns}`)
    : db.maybeOne(sql.type(Row)`
        update delegates set version = version + 1, per_payment = ${caps.per_payment}, daily = ${caps.daily},
          monthly = ${caps.monthly}, total = ${caps.total}, allowed_service_ids = ${allowed},
          external = ${caps.external}, external_pay_to = ${payTo}, external_origins = ${origins},
          approval_above = ${caps.approval_above}, paused = ${caps.paused}
        where delegate_id = ${caps.delegate_id} and account_id = ${accountId} and version = ${expectedVersion}
        returning ${columns}`);
};

/** Pauses a delegate for good that identity has deleted. */
export const pauseDelegate = (db: Db, accountId: string, delegateId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update delegates set paused = true
    where delegate_id = ${delegateId} and account_id = ${accountId} and not paused`);

/** The delegates of these ids that belong to the account. */
export const listDelegates = (
  db: Db,
  accountId: string,
  ids: readonly string[],
): Promise<readonly DelegateRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from delegates
    where account_id = ${accountId} and delegate_id = any(${sql.array([...ids], 'text')})`);

/** The columns of a settlement with the periods in whose counters it counts: a UTC day. */
export const countedIn = sql.fragment`delegate_day`;

/**
 * CTE `delegate` of acceptance: the rows that count the payments of CTE `candidate`, locked, with
 * what is left of each cap (null: no cap) and the columns `countedIn`.
 */
export const lockDelegates = sql.fragment`
  select d.delegate_id, d.account_id, d.per_payment, d.daily, d.monthly, d.total, d.allowed_service_ids, d.external,
    d.external_pay_to, d.external_origins, d.approval_above, d.paused, greatest(d.day, ${today}) as delegate_day,
    d.daily - ${ofToday(sql.fragment`d.day_held + d.day_spent`)} as daily_left,
    d.monthly - ${ofThisMonth(sql.fragment`d.month_held + d.month_spent`)} as monthly_left,
    d.total - (d.total_held + d.total_spent) as total_left
  from delegates as d
  where d.delegate_id = any(array(select ${limitsOf('candidate')} from candidate where is_existing is null))
  order by d.delegate_id for update of d`;

/**
 * Holds the amounts of the settlements that CTE `inserted` returns. The first payment of a day or
 * month resets its counters. The rows are locked, so these are their newest versions.
 */
export const holdDelegates = sql.fragment`
  update delegates set
    day_held = ${ofToday(sql.fragment`day_held`)} + sums.amount, day_spent = ${ofToday(sql.fragment`day_spent`)},
    month_held = ${ofThisMonth(sql.fragment`month_held`)} + sums.amount,
    month_spent = ${ofThisMonth(sql.fragment`month_spent`)},
    total_held = total_held + sums.amount,
    day = greatest(day, ${today}), month = greatest(month, ${thisMonth})
  from (
    select ${limitsOf('inserted')} as delegate_id, sum(quote_amount)::bigint as amount from inserted
    group by ${limitsOf('inserted')}
  ) as sums
  where delegates.delegate_id = sums.delegate_id`;

/**
 * CTE that moves the amounts of payments between the counters, for the rows of the statement's CTE
 * `changed` (delegate_id, account_id, quote_amount, `countedIn`). Counters of a day or month that
 * is over do not change. The rows are locked in the order of their ids, so that two such statements
 * never deadlock. The values are computed from the locked rows: an update reads the version of its
 * snapshot first, and the constraints would check values computed from that version.
 * @param signs of the amount in held and spent; `of`: the rows whose amounts move, default all
 */
export const updateDelegateCounters = (signs: {
  held: ReturnType<typeof sql.fragment>;
  spent: ReturnType<typeof sql.fragment>;
  of?: ReturnType<typeof sql.fragment>;
}) => {
  const { of = sql.fragment`true` } = signs;
  const inAll = (sign: ReturnType<typeof sql.fragment>) =>
    sql.fragment`sum((${sign}) * changed.quote_amount)::bigint`;
  const inDay = (sign: ReturnType<typeof sql.fragment>) =>
    sql.fragment`sum(case when locked.day = changed.delegate_day then (${sign}) * changed.quote_amount else 0 end)::bigint`;
  const inMonth = (sign: ReturnType<typeof sql.fragment>) =>
    sql.fragment`sum(case when locked.month = date_trunc('month', changed.delegate_day)::date
      then (${sign}) * changed.quote_amount else 0 end)::bigint`;
  return sql.fragment`
    update delegates set day_held = moved.day_held, day_spent = moved.day_spent, month_held = moved.month_held,
      month_spent = moved.month_spent, total_held = moved.total_held, total_spent = moved.total_spent
    from (
      select locked.delegate_id,
        max(locked.day_held) + ${inDay(signs.held)} as day_held, max(locked.day_spent) + ${inDay(signs.spent)} as day_spent,
        max(locked.month_held) + ${inMonth(signs.held)} as month_held, max(locked.month_spent) + ${inMonth(signs.spent)} as month_spent,
        max(locked.total_held) + ${inAll(signs.held)} as total_held, max(locked.total_spent) + ${inAll(signs.spent)} as total_spent
      from (
        select d.delegate_id, d.day, d.month, d.day_held, d.day_spent, d.month_held, d.month_spent, d.total_held, d.total_spent
        from delegates as d
        where d.delegate_id = any(array(select ${limitsOf('changed')} from changed where ${of}))
        order by d.delegate_id for no key update of d
      ) as locked
      join changed on ${limitsOf('changed')} = locked.delegate_id and ${of}
      -- Each maximum is of one row. Grouping by these columns instead would sort the rows again.
      group by locked.delegate_id
    ) as moved
    where delegates.delegate_id = moved.delegate_id
    returning delegates.delegate_id`;
};

/*
 * The limits of an account for what a sign-in pays are a row whose delegate_id is the account's id.
 * So one mechanism holds and counts both (docs/adr/0063).
 */

/**
 * Gives an account the default limits unless it has some. A wallet's first snapshot runs it. The
 * insert would wait for a transaction that changes the row, so it is left out if there is one.
 */
export const insertAccountLimits = (accountId: string) => sql.fragment`
  insert into delegates (delegate_id, account_id, version, per_payment, daily, external, day, month)
  select ${accountId}, ${accountId}, 1, ${DEFAULT_ACCOUNT_LIMITS.perPaymentMicro}::bigint, ${DEFAULT_ACCOUNT_LIMITS.dailyMicro}::bigint, true,
    ${today}, ${thisMonth}
  where not exists (select from delegates where delegate_id = ${accountId})
  on conflict do nothing
  returning delegate_id`;

/** The limits of an account with its counters, after it was given the default ones if need be. */
export const getAccountLimits = async (db: Db, accountId: string): Promise<DelegateRow> => {
  await db.query(sql.typeAlias('void')`${insertAccountLimits(accountId)}`);
  return db.one(sql.type(Row)`select ${columns} from delegates where delegate_id = ${accountId}`);
};

const AccountLimits = z.object({ per_payment: z.bigint(), daily: z.bigint() });
type AccountLimits = z.infer<typeof AccountLimits>;

/** The limits of an account, locked until the transaction ends. */
export const lockAccountLimits = async (tx: Db, accountId: string): Promise<AccountLimits> => {
  await tx.query(sql.typeAlias('void')`${insertAccountLimits(accountId)}`);
  return tx.one(sql.type(AccountLimits)`
    select per_payment, daily from delegates where delegate_id = ${accountId} for no key update`);
};

/** Sets the limits of an account. What is held and spent stays. */
export const updateLimitsOf = (tx: Db, accountId: string, limits: AccountLimits): Promise<DelegateRow> =>
  tx.one(sql.type(Row)`
    update delegates set version = version + 1, per_payment = ${limits.per_payment}, daily = ${limits.daily}
    where delegate_id = ${accountId}
    returning ${columns}`);
