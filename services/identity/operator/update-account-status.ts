import type { z } from 'zod';
import type { AccountStatus } from '../../../shared/contract/identity.ts';
import type { Db, Pool } from '../../../shared/db/pool.ts';
import { changeByOperator, type Operator } from '../../../shared/operator/actions.ts';
import { type AccountStatusRow, lockAccountStatus } from '../accounts/store.ts';
import { showAccountStatus } from './view.ts';

/** The fields that an operator changes. The other fields say which account it is. */
const changeable = ({ frozen_at, limit_factor }: z.infer<typeof AccountStatus>) => ({
  frozen_at,
  limit_factor,
});

/**
 * Changes the status of an account. A change to the present state is neither made nor recorded.
 * @returns null when there is no such account
 */
export const updateAccountStatus = async (
  pool: Pool,
  accountId: string,
  operator: Operator,
  {
    action,
    isSo,
    change,
  }: {
    action: string;
    isSo: (row: AccountStatusRow) => boolean;
    change: (tx: Db) => Promise<AccountStatusRow>;
  },
): Promise<{ changed: boolean; account_status: z.infer<typeof AccountStatus> } | null> => {
  const { changed, state } = await changeByOperator<AccountStatusRow | null>(pool, operator, {
    action,
    target: accountId,
    lock: (tx) => lockAccountStatus(tx, accountId),
    isSo: (row) => row === null || isSo(row),
    change,
    show: (row) => row && changeable(showAccountStatus(row)),
  });
  return state && { changed, account_status: showAccountStatus(state) };
};
