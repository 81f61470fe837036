import { createBudgets, type Reservation } from '../../../shared/db/budget.ts';
import {
  type CappedPayer,
  createHourlyCaps,
  type HourlyLimits,
  type ReachedCap,
} from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { SettleOrder } from '../intents/model/order.ts';
import type { ClaimedIntent } from '../intents/store/intents.ts';

/** Caps over what is signed (rule 7): micro-units in a UTC hour. */
export type Caps = {
  /** @param at the moment whose hour it is counted in */
  reserveMicro: (payer: CappedPayer, amountMicro: bigint, at: number) => Promise<Reservation | ReachedCap>;
};

export const createCaps = (pool: Pool, clock: Clock, limits: HourlyLimits): Caps => {
  const budgets = createBudgets(pool, clock);
  return {
    reserveMicro: createHourlyCaps(budgets, limits).reserve,
  };
};

/** A payment of a default quote is signed or given up within this time of its acceptance. */
const ACCEPTED_BEFORE_MS = 10 * 60_000;

/**
 * Reserves a payment that is about to be signed, once: a later generation is signed when it is proven that the earlier one
 * moved nothing. It is counted in the hour in which settlement accepted it. Otherwise payments that were under way at the
 * turn of an hour would use up what settlement accepts in the next one. A job is believed for some minutes of that only.
 * @returns null when an earlier generation was counted
 */
export const reservePayment = async (
  caps: Pick<Caps, 'reserveMicro'>,
  { tx_hash, read_at: now }: Pick<ClaimedIntent, 'tx_hash' | 'read_at'>,
  { payer: wallet, accountId, grossMicro, acceptedAt }: SettleOrder,
): Promise<Reservation | ReachedCap | null> => {
  if (tx_hash !== null) return null;
  const at = Math.min(Math.max(acceptedAt, now - ACCEPTED_BEFORE_MS), now);
  return caps.reserveMicro({ wallet, accountId }, grossMicro, at);
};
