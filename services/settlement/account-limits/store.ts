import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { columns, type DelegateRow, Row, thisMonth, today } from '../delegates/store.ts';
import { DEFAULT_LIMITS } from './model.ts';

/*
 * The limits of an account for what a sign-in pays are a row of `delegates` whose delegate_id is
 * the account's id. So one mechanism holds and counts both (../delegates/store.ts).
 */

/** Gives an account the default limits unless it has some. A wallet's first snapshot runs it. */
export const insertAccountLimits = (accountId: string) => sql.fragment`
  insert into delegates (delegate_id, account_id, version, per_payment, daily, external, day, month)
  values (${accountId}, ${accountId}, 1, ${DEFAULT_LIMITS.perPaymentMicro}, ${DEFAULT_LIMITS.dailyMicro}, true,
    ${today}, ${thisMonth})
  on conflict do nothing`;

/** The limits of an account with its counters, after it was given the default ones if need be. */
export const getAccountLimits = async (db: Db, accountId: string): Promise<DelegateRow> => {
  await db.query(sql.typeAlias('void')`${insertAccountLimits(accountId)}`);
  return db.one(sql.type(Row)`select ${columns} from delegates where delegate_id = ${accountId}`);
};

const Limits = z.object({ per_payment: z.bigint(), daily: z.bigint() });
type Limits = z.infer<typeof Limits>;

/** The limits of an account, locked until the transaction ends. */
export const lockAccountLimits = async (tx: Db, accountId: string): Promise<Limits> => {
  await tx.query(sql.typeAlias('void')`${insertAccountLimits(accountId)}`);
  return tx.one(sql.type(Limits)`
    select per_payment, daily from delegates where delegate_id = ${accountId} for no key update`);
};

/** Sets the limits of an account. What is held and spent stays. */
export const updateLimitsOf = (tx: Db, accountId: string, limits: Limits): Promise<DelegateRow> =>
  tx.one(sql.type(Row)`
    update delegates set version = version + 1, per_payment = ${limits.per_payment}, daily = ${limits.daily}
    where delegate_id = ${accountId}
    returning ${columns}`);
