import { reservedAmounts } from '../../../shared/db/budget.ts';
import type { Db, Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Network } from '../ledger/model/network.ts';
import type { UserOrder } from '../ledger/model/order.ts';
import { cosigningScope } from './cosigning-usage.ts';
import { type Claim, checkClaims, claimsOf, dayOf, type Limits, reserveClaims } from './fee-budgets.ts';
import { feeLamports, isRevoke, TOKEN_ACCOUNT_LAMPORTS } from './lamports.ts';
import { getFactor } from './store/cosigning_factors.ts';
import { insertRefundCosignature, isRefundCosigned } from './store/refund_cosignatures.ts';
import { reserveCreation } from './token-account-rent.ts';

/** A transaction that its owner signs and the platform pays for. */
export type Cosigned = {
  order: UserOrder;
  /** Of the withdrawal, refund or delegation. */
  objectId: string;
  /** Of a refund. */
  settlementId: string | null;
  /** The account whose budget pays for the co-signature. */
  accountId: string;
  /** Owner of the token account that it creates. */
  creates: string | null;
};

export type Cosigning = {
  /**
   * Checks the budgets before anything is prepared or signed. Reserves nothing.
   * @throws BudgetUsedUp
   */
  check: (cosigned: Cosigned) => Promise<void>;
  /**
   * Reserves the cost of a co-signature in the transaction that commits it.
   * @throws BudgetUsedUp, NotCreatable; the caller must roll the transaction back
   */
  reserve: (tx: Db, intentId: string, cosigned: Cosigned) => Promise<void>;
};

type Deps = { pool: Pool; clock: Clock; network: Network; limits: Limits };

/** A cap that the spending of one day cannot reach. */
const UNLIMITED = 2n ** 62n;

/** The claims of a co-signature, without rent. */
const feeClaims = async (
  db: Db,
  { limits, network, clock }: Deps,
  { order, accountId }: Cosigned,
): Promise<Claim[]> => {
  const factor = BigInt(await getFactor(db, accountId));
  const isRevoking = isRevoke(order);
  const name = isRevoking ? 'fees_revoke' : 'fees_user';
  const number: Claim = {
    name,
    dimension: 'account',
    scope: cosigningScope(name, accountId),
    period: 'day',
    amount: 1n,
    cap: (isRevoking ? limits.revokes : limits.cosignatures) * factor,
  };
  const claims = [number, ...claimsOf(limits, name, accountId, feeLamports(order, network))];
  if (!isRevoking) return claims;
  const [before] = await reservedAmounts(db, [{ scope: number.scope, startsAt: dayOf(clock()) }]);
  // An account can always revoke once a day, even when others have used up the environment's
  // budget.
  return before! > 0n
    ? claims
    : claims.map((claim) => (claim.dimension === 'environment' ? { ...claim, cap: UNLIMITED } : claim));
};

/** The budgets of user-signed transactions: a daily number for each account, and lamports. */
export const createCosigning = (deps: Deps): Cosigning => {
  const { pool, clock, limits } = deps;
  const rentOf = (order: UserOrder, owner: string) => ({
    ...({ name: 'rent_user', accountId: order.accountId, owner } as const),
  });
  return {
    check: async (cosigned) => {
      const { order, settlementId, creates } = cosigned;
      const isPaid = settlementId !== null && !(await isRefundCosigned(pool, settlementId));
      const claims = [
        ...(isPaid ? [] : await feeClaims(pool, deps, cosigned)),
        ...(creates === null ? [] : claimsOf(limits, 'rent_user', order.accountId, TOKEN_ACCOUNT_LAMPORTS)),
      ];
      await checkClaims(pool, claims, clock());
    },
    reserve: async (tx, intentId, cosigned) => {
      const { order, objectId, settlementId, creates } = cosigned;
      const isPaid = settlementId !== null && (await insertRefundCosignature(tx, settlementId, objectId));
      if (!isPaid) await reserveClaims(tx, await feeClaims(tx, deps, cosigned), clock());
      if (creates !== null)
        await reserveCreation(tx, limits, rentOf(order, creates), { now: clock(), intentId });
    },
  };
};
