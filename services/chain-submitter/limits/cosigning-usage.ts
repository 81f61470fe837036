import type { Db } from '../../../shared/db/pool.ts';
import { sumReserved } from '../operator/store/work.ts';
import type { Limits } from './fee-budgets.ts';
import { findFactor } from './store/cosigning_factors.ts';

/** The scope that an account's co-signatures of a day are counted in. */
export const cosigningScope = (name: 'fees_user' | 'fees_revoke', accountId: string): string =>
  `${name}/number/${accountId}`;

/** What an account has had co-signed today, and how much it may have. */
export const getCosigningUsage = async (db: Db, limits: Limits, accountId: string) => {
  const [user, revoke] = [cosigningScope('fees_user', accountId), cosigningScope('fees_revoke', accountId)];
  const [factor, used] = await Promise.all([findFactor(db, accountId), sumReserved(db, [user, revoke])]);
  const of = (scope: string, limit: bigint) => ({
    used: Number(used.get(scope) ?? 0n),
    per_day: Number(limit) * factor,
  });
  return {
    ...{ account_id: accountId, factor },
    ...{ cosignatures: of(user, limits.cosignatures), revokes: of(revoke, limits.revokes) },
  };
};
