import { z } from 'zod';
import { PLATFORM_SERVICE_ID } from '../../../shared/contract/platform.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import type { Credit } from './model.ts';

/** Inserts the rows of accounts, which concurrent payments lock. */
export const insertFeeAccounts = (db: Db, accountIds: ReadonlySet<string>): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into fee_accounts (account_id)
    select unnest(${sql.array([...accountIds].sort(), 'text')}) on conflict do nothing`);

/**
 * CTE `fee_account`: the locked rows of accounts, and what is left of their credit. It has no row
 * for an account without one.
 * @param accountIds a query
 */
export const lockFeeAccounts = (accountIds: ReturnType<typeof sql.fragment>, credit: Credit) => sql.fragment`
  select account_id, greatest(${credit.firstMicro}::bigint,
    least(paid::numeric * ${credit.perPaid}::bigint, ${credit.laterMicro}::bigint)) - accrued + paid as credit_left
  from fee_accounts where account_id = any(array(${accountIds})) order by account_id for update`;

/** CTE that adds the fees of new payments: the rows of the statement's CTE `incoming`. */
export const reserveFees = sql.fragment`
  update fee_accounts as f set accrued = f.accrued + sums.fee
  from (
    select account_id, sum(accrued_fee)::bigint as fee from incoming
    where accrued_fee > 0 group by account_id
  ) as sums
  where f.account_id = sums.account_id`;

/**
 * CTE that returns the fees of failed settlements: the rows of the statement's CTE `changed` with
 * their `returned_fee`.
 */
export const returnFees = sql.fragment`
  update fee_accounts as f set accrued = f.accrued - changed.returned_fee
  from changed where f.account_id = changed.vendor_account_id and changed.returned_fee > 0`;

const Row = z.object({ accrued: z.bigint(), paid: z.bigint() });
type FeeAccount = z.infer<typeof Row>;

/** The sums of an account; zero for one that never accrued a fee. */
export const getFeeAccount = async (db: Db, accountId: string): Promise<FeeAccount> =>
  (await db.maybeOne(
    sql.type(Row)`select accrued, paid from fee_accounts where account_id = ${accountId}`,
  )) ?? {
    accrued: 0n,
    paid: 0n,
  };

const paysFees = sql.fragment`changed.service_id = ${PLATFORM_SERVICE_ID}::uuid`;
/** The account whose fees are paid: that of the quote. Any account can pay them. */
const ofAccount = sql.fragment`changed.scope ->> 'account_id'`;

/**
 * CTE that adds payments of fees which were just issued: the rows of the statement's CTE `changed`
 * that were pending.
 */
export const addPaidFees = sql.fragment`
  update fee_accounts as f set paid = f.paid + sums.amount
  from (
    select ${ofAccount} as account_id, sum(quote_amount)::bigint as amount from changed
    where ${paysFees} and was = 'pending' group by 1
  ) as sums
  where f.account_id = sums.account_id`;

/** CTE that subtracts payments of fees that were reversed on chain after they were issued. */
export const subtractPaidFees = sql.fragment`
  update fee_accounts as f set paid = f.paid - changed.quote_amount
  from changed where f.account_id = ${ofAccount} and ${paysFees} and changed.was <> 'pending'`;
