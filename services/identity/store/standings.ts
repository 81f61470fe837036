import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

const Row = z.object({
  account_id: z.string(),
  email: z.string(),
  created_at: z.number(),
  frozen_at: z.number().nullable(),
  limit_factor: z.number(),
});
export type StandingRow = z.infer<typeof Row>;

const columns = sql.fragment`account_id, email, created_at, frozen_at, limit_factor`;

/** How an account stands, or null. */
export const findStanding = (db: Db, accountId: string): Promise<StandingRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from accounts where account_id = ${accountId}`);

/** The same, locked until the transaction ends. */
export const lockStanding = (tx: Db, accountId: string): Promise<StandingRow | null> =>
  tx.maybeOne(sql.type(Row)`select ${columns} from accounts where account_id = ${accountId} for update`);

/** Whether an account is frozen; false for one that is not there. */
export const isAccountFrozen = (db: Db, accountId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ frozen: z.boolean() }))`
    select exists (
      select from accounts where account_id = ${accountId} and frozen_at is not null) as frozen`);

/** Accounts that are frozen or have raised limits, the first made first. */
export const standingsChanged = (db: Db, limit: number): Promise<readonly StandingRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from accounts where frozen_at is not null or limit_factor > 1
    order by account_id limit ${limit}`);

/** Freezes an account that the caller has locked, or gives it back. */
export const setFrozenAt = (tx: Db, accountId: string, frozen: boolean): Promise<StandingRow> =>
  tx.one(sql.type(Row)`
    update accounts set frozen_at = ${frozen ? sql.fragment`app_now()` : sql.fragment`null`}
    where account_id = ${accountId} returning ${columns}`);

/** Sets by how much the limits of an account that the caller has locked are multiplied. */
export const setFactor = (tx: Db, accountId: string, factor: number): Promise<StandingRow> =>
  tx.one(sql.type(Row)`
    update accounts set limit_factor = ${factor}::int where account_id = ${accountId} returning ${columns}`);
