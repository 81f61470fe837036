import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { isoTime } from '../../../../shared/lib/clock.ts';
import type { Period, Split } from '../model/period.ts';
import { inScope, moment, type TransactionScope } from './scope.ts';

/*
 * The sums of transactions by account, side and UTC day. A summary reads them for its whole days,
 * and the rows for the parts of days at its ends.
 */

/** UTC day of a transaction. */
const day = sql.fragment`(created_at at time zone 'UTC')::date`;
const isCounted = sql.fragment`status <> 'reversed'`;

/**
 * The rest of a statement whose CTE `changed` has rows of transactions as they were (`before`, null
 * of a new one) and are (`after`). What a concurrent statement has changed is part of `before`,
 * because that is the row as it was locked. All statements lock transactions before sums, and both
 * in one order, so that they never deadlock.
 */
export const addDifferences = sql.fragment`
  , version as (
    select -1 as sign, (before).* from changed where (before).object_id is not null
    union all select 1, (after).* from changed
  ), difference as (
    select side.account_id, side, ${day} as day, side.delegate_id, service_id, sum(sign * amount) as amount,
      sum(sign * fee_amount) as fee_amount, sum(sign) as transfers
    from version cross join lateral (values
      ('payment', 'paid', from_account_id, delegate_id),
      ('payment', 'sold', to_account_id, null),
      ('refund', 'refunded', to_account_id, delegate_id),
      ('refund', 'returned', from_account_id, null)
    ) as side (of_type, side, account_id, delegate_id)
    where of_type = type and side.account_id is not null and ${isCounted}
    group by 1, 2, 3, 4, 5
    having sum(sign) <> 0 or sum(sign * amount) <> 0 or sum(sign * fee_amount) <> 0
  )
  insert into day_sums as s (account_id, side, day, delegate_id, service_id, amount, fee_amount, transfers)
  select * from difference order by account_id, side, day, delegate_id, service_id
  on conflict (account_id, side, day, delegate_id, service_id) do update set amount = s.amount + excluded.amount,
    fee_amount = s.fee_amount + excluded.fee_amount, transfers = s.transfers + excluded.transfers`;

/** Where the rows of a side are. */
const ROWS = {
  paid: { type: 'payment', direction: 'out' },
  sold: { type: 'payment', direction: 'in' },
  refunded: { type: 'refund', direction: 'in' },
  returned: { type: 'refund', direction: 'out' },
} as const;
type Side = keyof typeof ROWS;

/** Which transactions are added up: those of a scope, or the sales of one service of it. */
export type SumScope = TransactionScope & { service_id: string | null };
const ofService = ({ service_id }: SumScope) =>
  service_id === null ? sql.fragment`` : sql.fragment`and service_id = ${service_id}`;

const ofDays = (side: Side, scope: SumScope, { fromMs, toMs }: Period) => {
  const { account_id, delegate_id } = scope;
  const date = (ms: number) => sql.fragment`${isoTime(ms).slice(0, 10)}::date`;
  return sql.fragment`
    select day, delegate_id, service_id, amount, fee_amount, transfers from day_sums
    where account_id = ${account_id} and side = ${side} and day >= ${date(fromMs)} and day < ${date(toMs)}
      ${delegate_id === null ? sql.fragment`` : sql.fragment`and delegate_id = ${delegate_id}`} ${ofService(scope)}`;
};

const ofRows = (side: Side, scope: SumScope, { fromMs, toMs }: Period) => {
  const { type, direction } = ROWS[side];
  return sql.fragment`
    select ${day}, delegate_id, service_id, amount, fee_amount, 1 from transactions
    where ${inScope(scope, direction)} and type = ${type} and ${isCounted}
      and created_at >= ${moment(fromMs)} and created_at < ${moment(toMs)} ${ofService(scope)}`;
};

/** All transfers of a side in a period, summed in part. */
const summed = (side: Side, scope: SumScope, { days, rest }: Split) =>
  sql.join(
    [
      ...(days === null ? [] : [ofDays(side, scope, days)]),
      ...rest.map((period) => ofRows(side, scope, period)),
    ],
    sql.fragment` union all `,
  );

export type GroupBy = 'day' | 'service' | 'delegate';
const KEYS = {
  day: sql.fragment`day`,
  service: sql.fragment`service_id`,
  delegate: sql.fragment`delegate_id`,
} as const;

const Group = z.object({
  /** True for the row that sums all groups. */
  total: z.boolean(),
  key: z.string().nullable(),
  amount: z.bigint(),
  fees: z.bigint(),
  payment_count: z.bigint(),
});

/** The payments of a period: the total first, then the groups by their amounts, largest first. */
export const sumPayments = (
  db: Db,
  { side, scope, split }: { side: 'paid' | 'sold'; scope: SumScope; split: Split },
  { groupBy, limit }: { groupBy: GroupBy; limit: number },
): Promise<readonly z.infer<typeof Group>[]> =>
  db.any(sql.type(Group)`
    select grouping(key) = 1 as total, key::text as key, coalesce(sum(amount), 0)::bigint as amount,
      coalesce(sum(fee_amount), 0)::bigint as fees, coalesce(sum(transfers), 0)::bigint as payment_count
    from (
      select ${KEYS[groupBy]} as key, amount, fee_amount, transfers
      from (${summed(side, scope, split)}) as part (day, delegate_id, service_id, amount, fee_amount, transfers)
    ) as payment
    group by grouping sets ((key), ())
    -- Of a day whose payments were all reversed, a sum of none is left.
    having grouping(key) = 1 or sum(transfers) > 0
    order by total desc, 3 desc, key limit ${limit + 1}`);

/** The refunds that were received or made in a period, micro-units. */
export const sumRefunds = (
  db: Db,
  { side, scope, split }: { side: 'refunded' | 'returned'; scope: SumScope; split: Split },
): Promise<bigint> =>
  db.oneFirst(sql.type(z.object({ refunded: z.bigint() }))`
    select coalesce(sum(amount), 0)::bigint as refunded
    from (${summed(side, scope, split)}) as part (day, delegate_id, service_id, amount, fee_amount, transfers)`);
