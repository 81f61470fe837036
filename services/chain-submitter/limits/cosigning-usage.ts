import type { Db } from '../../../shared/db/pool.ts';
import { sumReserved } from '../ledger/store/spending.ts';
import type { Limits } from './fee-budgets.ts';
import { getFactor } from './store/cosigning_factors.ts';

/** The scope in which an account's co-signatures of a day are counted. */
export const cosigningScope = (name: 'fees_user' | 'fees_revoke', accountId: string): string =>
  `${name}/number/${accountId}`;

/** How many co-signatures an account has used today, and how many it may use. */
export const getCosigningUsage = async (db: Db, limits: Limits, accountId: string) => {
  const [user, revoke] = [cosigningScope('fees_user', accountId), cosigningScope('fees_revoke', accountId)];
  const [factor, used] = await Promise.all([getFactor(db, accountId), sumReserved(db, [user, revoke])]);
  const usage = (scope: string, limit: bigint) => ({
    used: Number(used.get(scope) ?? 0n),
    per_day: Number(limit) * factor,
  });
  return {
    account_id: accountId,
    factor,
    cosignatures: usage(user, limits.cosignatures),
    revokes: usage(revoke, limits.revokes),
  };
};
