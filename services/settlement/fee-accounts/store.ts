import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

/** How much an account may owe, in micro-units: before its first payment of fees, and after it. */
export type Credit = { firstMicro: bigint; laterMicro: bigint };

/** What an account with these sums may still owe. `of`: the table's alias. */
const creditLeft = ({ firstMicro, laterMicro }: Credit) =>
  sql.fragment`(case when f.paid > 0 then ${laterMicro}::bigint else ${firstMicro}::bigint end - (f.accrued - f.paid))`;

/**
 * CTE that reserves the fee of a new settlement, in the statement that inserts it. It returns no
 * row if the credit of the account does not suffice.
 */
export const reserveFee = (accountId: string, feeMicro: bigint, credit: Credit) => sql.fragment`
  insert into fee_accounts as f (account_id, accrued)
  select ${accountId}, ${feeMicro}::bigint
  where ${feeMicro}::bigint <= ${credit.firstMicro}::bigint
    or exists (select from fee_accounts where account_id = ${accountId})
  on conflict (account_id) do update set accrued = f.accrued + excluded.accrued
    where excluded.accrued <= ${creditLeft(credit)}
  returning account_id`;

/** CTE that returns the fees of failed settlements: the rows of the statement's CTE `changed`. */
export const returnFees = sql.fragment`
  update fee_accounts as f set accrued = f.accrued - changed.accrued_fee
  from changed where f.account_id = changed.vendor_account_id and changed.accrued_fee > 0`;

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

/** Whether the credit of an account suffices for one more fee. Advisory: nothing is reserved. */
export const hasCredit = async (
  db: Db,
  accountId: string,
  feeMicro: bigint,
  { firstMicro, laterMicro }: Credit,
): Promise<boolean> => {
  const { accrued, paid } = await getFeeAccount(db, accountId);
  return accrued - paid + feeMicro <= (paid > 0n ? laterMicro : firstMicro);
};
