import { sql } from '../../../../shared/db/pool.ts';
import type { Direction } from '../model/transaction.ts';

/**
 * Which transactions a caller may see: those of an account, or of one delegate of it. It is part of
 * the query, so that a forgotten check finds nothing.
 */
export type TransactionScope = { account_id: string; delegate_id: string | null };

/** Condition of the rows in scope. */
export const inScope = ({ account_id, delegate_id }: TransactionScope, direction: Direction) => {
  const account =
    direction === 'out'
      ? sql.fragment`from_account_id = ${account_id}`
      : sql.fragment`to_account_id = ${account_id}`;
  return delegate_id === null ? account : sql.fragment`delegate_id = ${delegate_id} and ${account}`;
};

/** A time in epoch milliseconds. */
export const moment = (ms: number) => sql.fragment`to_timestamp(${ms}::float8 / 1000)`;
