import type { z } from 'zod';
import type { AccountStatus } from '../../shared/contract/identity.ts';
import type { Db, Pool } from '../../shared/db/pool.ts';
import { changeByOperator, type Operator } from '../../shared/operator/actions.ts';
import { lockStanding, type StandingRow } from './store/standings.ts';
import { presentStanding } from './view.ts';

/** What of a standing an operator changes; the rest says whose it is. */
const told = ({ frozen_at, limit_factor }: z.infer<typeof AccountStatus>) => ({ frozen_at, limit_factor });

/**
 * Changes how an account stands. What is so already is left alone and not recorded.
 * @returns null when there is no such account
 */
export const changeStanding = async (
  pool: Pool,
  accountId: string,
  operator: Operator,
  {
    action,
    isSo,
    change,
  }: {
    action: string;
    isSo: (row: StandingRow) => boolean;
    change: (tx: Db) => Promise<StandingRow>;
  },
): Promise<{ changed: boolean; account_status: z.infer<typeof AccountStatus> } | null> => {
  const { changed, state } = await changeByOperator<StandingRow | null>(pool, operator, {
    action,
    target: accountId,
    lock: (tx) => lockStanding(tx, accountId),
    isSo: (row) => row === null || isSo(row),
    change,
    show: (row) => row && told(presentStanding(row)),
  });
  return state && { changed, account_status: presentStanding(state) };
};
