import { LRUCache } from 'lru-cache';
import type { Budgets, Reservation } from '../../../shared/db/budget.ts';
import type { Db, Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Network } from '../ledger/model/network.ts';
import type { Order, OwnOrder } from '../ledger/model/order.ts';
import type { IntentRow } from '../ledger/store/intents.ts';
import { isCreationPrepared } from '../ledger/store/preparations.ts';
import type { SpendingClaim } from '../ledger/store/spending.ts';
import {
  type Claim,
  checkClaims,
  claimsOf,
  createSettleFees,
  createVendorFees,
  dayOf,
  type Limits,
  reserveClaims,
} from './fee-budgets.ts';
import { feeLamports, settleLamports, TOKEN_ACCOUNT_LAMPORTS, worthLamports } from './lamports.ts';
import { NotCreatable, type Rent, reserveCreation } from './token-account-rent.ts';

/** A transaction that this service signs alone. */
export type OwnTransaction = {
  /** The intent in its generation before these bytes. */
  intent: Pick<IntentRow, 'intent_id' | 'generation'>;
  order: OwnOrder;
  /** Owner of the token account that it creates. */
  creates: string | null;
};

type Deps = {
  pool: Pool;
  clock: Clock;
  network: Network;
  limits: Limits;
  budgets: Budgets;
  /** Price of one SOL in micro-units of USDC. */
  solPriceMicro: bigint;
};

/** A transaction that was planned before a commit is signed within this time after it. */
const PLANNED_MS = 5000;
const MAX_CREATING = 10_000;

const NOTHING: Reservation = { release: () => {} };

/**
 * The token accounts that this process creates, or whose creation it committed in the last seconds.
 */
const createCreations = () => {
  const owners = new LRUCache<string, true>({ max: MAX_CREATING, ttlResolution: 0 });
  return {
    /**
     * Called before the caps and budgets of a creation are used. False when this process creates
     * the same token account already, because the database would refuse a second creation.
     */
    beginCreation: (owner: string | null): boolean => {
      if (owner === null) return true;
      if (owners.has(owner)) return false;
      owners.set(owner, true);
      return true;
    },
    endCreation: (owner: string | null, isCommitted: boolean): void => {
      if (owner === null) return;
      if (isCommitted) owners.set(owner, true, { ttl: PLANNED_MS });
      else owners.delete(owner);
    },
  };
};

/**
 * A final settle has paid its fee, so what it reserved counts in its vendor's part no more, as far
 * as the fee is worth it (docs/adr/0096). One that was accepted on another day gives nothing back,
 * because it may have reserved of that day.
 */
const createEarned =
  (
    { giveBack }: Pick<ReturnType<typeof createSettleFees>, 'giveBack'>,
    { clock, network, solPriceMicro }: Pick<Deps, 'clock' | 'network' | 'solPriceMicro'>,
  ) =>
  (order: Order | null): void => {
    if (order?.kind !== 'settle' || dayOf(order.acceptedAt) !== dayOf(clock())) return;
    const reserved = settleLamports(order, network, 0);
    const worth = worthLamports(order.feeMicro, solPriceMicro);
    giveBack(order.vendorAccountId, worth < reserved ? worth : reserved);
  };

/** The budgets of settles, test funds and token accounts of provisioned wallets. */
export const createOwnBudgets = ({ pool, clock, network, limits, budgets, solPriceMicro }: Deps) => {
  const settleFees = createSettleFees(budgets, limits, clock);

  const rentOf = ({ order, creates }: OwnTransaction): Rent | null => {
    if (creates === null) return null;
    return order.kind === 'settle'
      ? { name: 'rent_settle', accountId: order.vendorAccountId, owner: creates }
      : { name: 'rent_user', accountId: order.accountId, owner: creates };
  };
  const feeClaims = ({ order }: OwnTransaction): Claim[] =>
    order.kind === 'settle'
      ? []
      : claimsOf(limits, 'fees_user', order.accountId, feeLamports(order, network));

  return {
    settleFees,
    /** The fees of payments that other clients have signed. */
    incomingFees: createVendorFees(budgets, limits, 'fees_incoming'),
    ...createCreations(),
    /**
     * Called before anything is signed. Reserves the fees of a settle, and checks the budgets of
     * any other transaction.
     * @throws BudgetUsedUp
     */
    beforeSigning: async (own: OwnTransaction): Promise<Reservation> => {
      const { order, intent } = own;
      if (order.kind === 'settle')
        return settleFees.reserve(order.vendorAccountId, settleLamports(order, network, intent.generation));
      const rent = rentOf(own);
      const claims = rent === null ? [] : claimsOf(limits, rent.name, rent.accountId, TOKEN_ACCOUNT_LAMPORTS);
      await checkClaims(pool, [...feeClaims(own), ...claims], clock());
      return NOTHING;
    },
    earned: createEarned(settleFees, { clock, network, solPriceMicro }),
    /**
     * The claim on the payer's budget that the statement reserves which commits a settle's bytes.
     */
    claimOf: ({ intent, order }: OwnTransaction): SpendingClaim | null => {
      if (order.kind !== 'settle') return null;
      const { scope, amount, cap } = settleFees.accountClaim(
        order.accountId,
        settleLamports(order, network, intent.generation),
      );
      return { scope, startsAt: dayOf(clock()), amount, cap };
    },
    /**
     * Reserves the remaining claims in the transaction that commits the bytes.
     * @throws BudgetUsedUp, NotCreatable; the caller must roll the transaction back
     */
    reserve: async (tx: Db, own: OwnTransaction): Promise<void> => {
      // A prepared transaction creates the token account too, and could not be co-signed after this
      // one.
      if (own.order.kind === 'createTokenAccount' && (await isCreationPrepared(tx, own.order.owner)))
        throw new NotCreatable('a prepared transaction creates the token account');
      await reserveClaims(tx, feeClaims(own), clock());
      const rent = rentOf(own);
      if (rent !== null) {
        const { intent_id: intentId } = own.intent;
        await reserveCreation(tx, limits, rent, { now: clock(), intentId });
      }
    },
  };
};
export type OwnBudgets = ReturnType<typeof createOwnBudgets>;
