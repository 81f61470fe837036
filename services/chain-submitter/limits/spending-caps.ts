import { createBudgets, type Reservation } from '../../../shared/db/budget.ts';
import {
  type CappedPayer,
  createHourlyCaps,
  type HourlyLimits,
  type ReachedCap,
} from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { SettleOrder } from '../ledger/model/order.ts';
import type { ClaimedIntent } from '../ledger/store/intents.ts';

/** Caps on what is signed in a UTC hour, in micro-units (rule 7). */
export type Caps = {
  /** @param at a moment of the hour in which the amount counts */
  reserveMicro: (payer: CappedPayer, amountMicro: bigint, at: number) => Promise<Reservation | ReachedCap>;
};

export const createCaps = (pool: Pool, clock: Clock, limits: HourlyLimits): Caps => {
  const budgets = createBudgets(pool, clock);
  return {
    reserveMicro: createHourlyCaps(budgets, limits).reserve,
  };
};

/** A payment of a default quote is signed, or has failed, within this time of its acceptance. */
const ACCEPTED_BEFORE_MS = 10 * 60_000;

/**
 * The moment in whose hour a payment counts: when settlement accepted it. The acceptance time comes
 * from the bus, so it may lie only some minutes in the past.
 * @param acceptedAt epoch milliseconds, as `now`
 */
export const countedAt = (acceptedAt: number, now: number): number =>
  Math.min(Math.max(acceptedAt, now - ACCEPTED_BEFORE_MS), now);

/**
 * Reserves a payment before it is signed. A later generation does not count again, because it is
 * signed only after the proof that the earlier one moved nothing. The payment counts in the hour in
 * which settlement accepted it. Otherwise payments that are in progress at the turn of an hour
 * would use up the cap of the next one.
 * @returns null when an earlier generation was counted
 */
export const reservePayment = async (
  caps: Pick<Caps, 'reserveMicro'>,
  { signature, read_at: now }: Pick<ClaimedIntent, 'signature' | 'read_at'>,
  { payer: wallet, accountId, grossMicro, acceptedAt }: SettleOrder,
): Promise<Reservation | ReachedCap | null> => {
  if (signature !== null) return null;
  return caps.reserveMicro({ wallet, accountId }, grossMicro, countedAt(acceptedAt, now));
};
