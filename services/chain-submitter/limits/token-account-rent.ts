import type { Db } from '../../../shared/db/pool.ts';
import { lockGrant, updateReservation } from '../ledger/store/grants.ts';
import { claimsOf, dayOf, type Limits, reserveClaims } from './fee-budgets.ts';
import { TOKEN_ACCOUNT_LAMPORTS } from './lamports.ts';

/** Longer than signed bytes may be included. */
const SIGNED_MS = 10 * 60_000;

export type Rent = {
  name: 'rent_settle' | 'rent_user';
  /** The account of the grant, and the owner of the token account. */
  accountId: string;
  owner: string;
};

/** The address was paid for before, or another transaction creates it. The caller plans again. */
export class NotCreatable extends Error {
  override name = 'NotCreatable';
}

const reserve = async (
  tx: Db,
  limits: Limits,
  { name, accountId, owner }: Rent,
  { now, until, by }: { now: number; until: number; by: string | null },
): Promise<void> => {
  const grant = await lockGrant(tx, accountId, owner);
  if (grant === null || grant.used) throw new NotCreatable('the token account was paid for before');
  if (!grant.reserved)
    await reserveClaims(tx, claimsOf(limits, name, accountId, TOKEN_ACCOUNT_LAMPORTS), now);
  const reservation = grant.reserved
    ? null
    : { lamports: TOKEN_ACCOUNT_LAMPORTS, budget: name, on: dayOf(now) };
  await updateReservation(tx, { accountId, owner }, { reservation, until, by });
};

/**
 * Reserves the rent that a quote promises, in the transaction of its grant. Several quotes share
 * one promise.
 * @param until when the quote can no longer be signed, epoch milliseconds
 * @throws BudgetUsedUp
 */
export const reservePromise = (
  tx: Db,
  limits: Limits,
  rent: Rent,
  { now, until }: { now: number; until: number },
): Promise<void> => reserve(tx, limits, rent, { now, until, by: null });

/**
 * Uses the promised rent, or reserves it now, in the transaction that commits the bytes which
 * create the token account. The unique index transactions_one_creation refuses other bytes that
 * create it.
 * @throws BudgetUsedUp, NotCreatable
 */
export const reserveCreation = (
  tx: Db,
  limits: Limits,
  rent: Rent,
  { now, intentId }: { now: number; intentId: string },
): Promise<void> => reserve(tx, limits, rent, { now, until: now + SIGNED_MS, by: intentId });
