import { LRUCache } from 'lru-cache';
import type { Budgets, Reservation } from '../../../shared/db/budget.ts';
import type { Db, Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Network } from '../chain/model/network.ts';
import type { OwnOrder } from '../intents/model/order.ts';
import type { SpendingClaim } from '../intents/store/intents.ts';
import { isCreationPrepared } from '../user-signed/store/preparations.ts';
import {
  type Claim,
  checkClaims,
  claimsOf,
  createSettleFees,
  dayOf,
  type Limits,
  reserveClaims,
} from './fee-budgets.ts';
import { feeLamports, settleLamports, TOKEN_ACCOUNT_LAMPORTS } from './lamports.ts';
import { NotCreatable, type Rent, reserveCreation } from './token-account-rent.ts';

/** A transaction that this service signs alone. */
export type OwnTransaction = {
  order: OwnOrder;
  intentId: string;
  /** Of the intent before these bytes. */
  generation: number;
  /** The account that asked for it. */
  accountId: string;
  /** Owner of the token account that it creates. */
  creates: string | null;
};

type Deps = { pool: Pool; clock: Clock; network: Network; limits: Limits; budgets: Budgets };

/** Nothing that was planned before a commit is signed so long after it. */
const PLANNED_MS = 5000;
const MAX_CREATING = 10_000;

const NOTHING: Reservation = { release: () => {} };

/** The budgets of settles, test funds and token accounts of provisioned wallets. */
export const createOwnBudgets = ({ pool, clock, network, limits, budgets }: Deps) => {
  const settleFees = createSettleFees(budgets, limits, clock);
  /** Owners whose token account this process is about to create, or has committed within the last seconds. */
  const creating = new LRUCache<string, true>({ max: MAX_CREATING, ttlResolution: 0 });

  const rentOf = ({ order, creates }: OwnTransaction): Rent | null => {
    if (creates === null) return null;
    return order.kind === 'settle'
      ? { name: 'rent_settle', accountId: order.vendorAccountId, owner: creates }
      : { name: 'rent_user', accountId: order.accountId, owner: creates };
  };
  const feeClaims = ({ order, accountId }: OwnTransaction): Claim[] =>
    order.kind === 'settle' ? [] : claimsOf(limits, 'fees_user', accountId, feeLamports(order, network));

  return {
    settleFees,
    /**
     * Before the caps and budgets of a creation are used: false when this process creates the same token account. What was
     * planned before that was committed would be refused by the database.
     */
    beginCreation: (owner: string | null): boolean => {
      if (owner === null) return true;
      if (creating.has(owner)) return false;
      creating.set(owner, true);
      return true;
    },
    endCreation: (owner: string | null, isCommitted: boolean): void => {
      if (owner === null) return;
      if (isCommitted) creating.set(owner, true, { ttl: PLANNED_MS });
      else creating.delete(owner);
    },
    /**
     * Before anything is signed: the fees of a settle are reserved, for other work it is asked whether there is room.
     * @throws BudgetUsedUp
     */
    beforeSigning: async (work: OwnTransaction): Promise<Reservation> => {
      const { order, generation } = work;
      if (order.kind === 'settle')
        return settleFees.reserve(order.vendorAccountId, settleLamports(order, network, generation));
      const rent = rentOf(work);
      const claims = rent === null ? [] : claimsOf(limits, rent.name, rent.accountId, TOKEN_ACCOUNT_LAMPORTS);
      await checkClaims(pool, [...feeClaims(work), ...claims], clock());
      return NOTHING;
    },
    /** What the statement that commits a settle's bytes reserves of the payer's account. */
    claimOf: ({ order, generation, accountId }: OwnTransaction): SpendingClaim | null => {
      if (order.kind !== 'settle') return null;
      const { scope, amount, cap } = settleFees.accountClaim(
        accountId,
        settleLamports(order, network, generation),
      );
      return { scope, startsAt: dayOf(clock()), amount, cap };
    },
    /**
     * Reserves the rest in the transaction that commits the bytes.
     * @throws BudgetUsedUp, NotCreatable; the transaction has to be rolled back then
     */
    reserve: async (tx: Db, work: OwnTransaction): Promise<void> => {
      // What a user is about to sign creates it too, and could not be co-signed after this one.
      if (work.order.kind === 'createTokenAccount' && (await isCreationPrepared(tx, work.order.owner)))
        throw new NotCreatable('a prepared transaction creates the token account');
      await reserveClaims(tx, feeClaims(work), clock());
      const rent = rentOf(work);
      if (rent !== null) await reserveCreation(tx, limits, rent, { now: clock(), intentId: work.intentId });
    },
  };
};
export type OwnBudgets = ReturnType<typeof createOwnBudgets>;
