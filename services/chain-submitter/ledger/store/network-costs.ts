import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import type { NetworkCost } from '../model/network-cost.ts';

/** What an intent's transition says of its transaction's cost. */
export type CostColumns = {
  /** Whom the transaction was paid for; null: none of ours was. */
  cost_account: string | null;
  /** Null: not known yet. */
  fee_lamports: string | null;
  rent_lamports: string | null;
};

/** A provider that does not have a transaction yet is asked again after this time. */
const READ_AGAIN_AFTER = '1 minute';

/**
 * Adds the known costs of the rows of `changed` to the sums of the platform's day and of the
 * account's month. The rows are changed in the order of their keys, so that two workers cannot
 * deadlock.
 */
export const addCosts = sql.fragment`, costs as (
    insert into network_costs as c (account_id, kind, period, transactions, fee_lamports, rent_lamports)
    select of.account_id, changed.kind, of.period, count(*), sum(changed.fee_lamports), sum(changed.rent_lamports)
    from changed cross join lateral (values
      ('', date_trunc('day', app_now(), 'UTC') at time zone 'UTC'),
      (changed.cost_account, date_trunc('month', app_now(), 'UTC') at time zone 'UTC')) as of (account_id, period)
    where changed.cost_account is not null and changed.fee_lamports is not null
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (account_id, kind, period) do update set transactions = c.transactions + excluded.transactions,
      fee_lamports = c.fee_lamports + excluded.fee_lamports, rent_lamports = c.rent_lamports + excluded.rent_lamports
  )`;

/** Notes the transactions of `changed` that are on the chain and whose cost is not known. */
export const noteUnreadCosts = sql.fragment`, unread as (
    insert into unread_costs (signature, intent_id, kind, account_id)
    select signature, intent_id, kind, cost_account from changed
    where cost_account is not null and fee_lamports is null and slot is not null
    on conflict (signature) do nothing
  )`;

const Unread = z.object({ signature: z.string() });

/**
 * The transactions whose cost is to be read now. They are due again after a while, so that another
 * replica does not read the same.
 */
export const claimUnreadCosts = (db: Db, limit: number): Promise<readonly string[]> =>
  db.anyFirst(sql.type(Unread)`
    with due as (
      select signature from unread_costs where read_after <= app_now()
      order by read_after limit ${limit} for update skip locked
    )
    update unread_costs u set read_after = app_now() + ${READ_AGAIN_AFTER}::interval
    from due where u.signature = due.signature returning u.signature`);

/** A cost that was read late. */
export type ReadCost = { signature: string; cost: NetworkCost; isOurs: boolean };

/**
 * Records costs that were read late, each once, whoever else has read it too. One that another fee
 * payer paid is forgotten.
 */
export const recordCosts = (db: Db, read: readonly ReadCost[]): Promise<unknown> => {
  const rows = read.map(({ signature, isOurs, cost: { feeLamports, rentLamports } }) => {
    return { signature, is_ours: isOurs, fee_lamports: `${feeLamports}`, rent_lamports: `${rentLamports}` };
  });
  return db.query(sql.typeAlias('void')`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as input(signature text, is_ours boolean, fee_lamports bigint, rent_lamports bigint)
    ), noted as (
      delete from unread_costs u using input where u.signature = input.signature
      returning u.signature, u.intent_id, u.kind, u.account_id, input.is_ours, input.fee_lamports, input.rent_lamports
    ), changed as (
      select signature, intent_id, kind, account_id as cost_account, fee_lamports, rent_lamports
      from noted where is_ours
    )${addCosts}
    update transactions t set fee_lamports = changed.fee_lamports, rent_lamports = changed.rent_lamports
    from changed where t.signature = changed.signature and t.intent_id = changed.intent_id`);
};

const Sum = z.object({
  account_id: z.string(),
  kind: z.string(),
  transactions: z.bigint(),
  fee_lamports: z.bigint(),
  rent_lamports: z.bigint(),
});
/** Costs of an account, or of the platform, by kind. */
export type CostSum = z.infer<typeof Sum>;

/** Days in UTC: the first, and the day after the last. */
export type Days = { from: string; before: string };

const DAY_MS = 86_400_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The days from one moment until another, epoch milliseconds; without the other, one day. */
export const daysFrom = (from: number, before = from + DAY_MS): Days => ({
  from: dayOf(from),
  before: dayOf(before),
});

/** The costs of the platform by kind. */
export const sumPlatformCosts = (db: Db, { from, before }: Days): Promise<readonly CostSum[]> =>
  db.any(sql.type(Sum)`
    select '' as account_id, kind, sum(transactions)::bigint as transactions,
      sum(fee_lamports)::bigint as fee_lamports, sum(rent_lamports)::bigint as rent_lamports
    from network_costs where account_id = '' and period >= ${from}::date and period < ${before}::date
    group by kind order by kind`);

/**
 * The costs of accounts in a month by kind, those with the highest first.
 * @param month its first day, ISO
 * @param accountId null: of every account
 */
export const sumAccountCosts = (
  db: Db,
  { month, accountId, limit }: { month: string; accountId: string | null; limit: number },
): Promise<readonly CostSum[]> =>
  db.any(sql.type(Sum)`
    select account_id, kind, transactions, fee_lamports, rent_lamports from network_costs
    where account_id <> '' and period = ${month}::date and (${accountId}::text is null or account_id = ${accountId})
    order by fee_lamports + rent_lamports desc, account_id, kind limit ${limit}`);

/** How many transactions are on the chain and have no known cost yet. */
export const countUnreadCosts = (db: Db): Promise<bigint> =>
  db.oneFirst(sql.type(z.object({ unread: z.bigint() }))`select count(*) as unread from unread_costs`);
