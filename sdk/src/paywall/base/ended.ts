import { displayUsdc } from '../../generated/usdc.ts';
import type { Output } from '../../types.ts';
import { later, pause } from '../../wait.ts';
import { BELOW_FEE, ENDED_BY_API, HIGH_FEE, type PaywallEvent } from './log.ts';

/** What the log says about the end of an authorization that was used. */

/**
 * How an authorization has ended, in micro-units: what was captured of it and the fee of that, or
 * what was used and nobody pays. Null: unused.
 */
export type Ended = { paid: string; fee: string } | { unpaid: string } | null;

/** A fee of this part of a payment is worth a line: one of four, so the vendor keeps three. */
const HIGH_PART = 4n;

/** @param leastCapture micro-units; the least use that is captured */
export const eventOf = (ended: Ended, settlementId: string, leastCapture: string): PaywallEvent | null => {
  if (ended === null) return null;
  const about = { resource: null, payment_id: settlementId };
  if ('unpaid' in ended) {
    const fee = displayUsdc(BigInt(leastCapture) - 1n);
    const message =
      `${settlementId} has ended with a use of ${displayUsdc(ended.unpaid)}. It pays you nothing, because the ` +
      `use does not exceed the fee of ${fee}. The smallest tab that pays is ${displayUsdc(leastCapture)}`;
    return { event: 'released', ...about, reason: BELOW_FEE, message };
  }
  const { paid, fee } = ended;
  const message = `${displayUsdc(paid)} captured of ${settlementId}, fee ${displayUsdc(fee)}`;
  const isHigh = BigInt(fee) * HIGH_PART >= BigInt(paid);
  return { event: 'captured', ...about, ...(isHigh && { reason: HIGH_FEE }), message };
};

type Verified = Output<'settlement.verify'>;

/** After the end of a window, because the API ends what is due once a second. */
const AFTER_MS = 5000;
/** How long the API may take to decide what is captured, in tries with growing pauses. */
const TRIES = 6;
const PAUSE_MS = 1000;

/**
 * Why it has ended.
 * @returns null if another process of the vendor may have ended it
 */
const causeOf = ({ authorization, redeemed_at }: Verified): string | null => {
  const { at_risk_at, voided_at, capture_ends_at } = authorization!;
  if (at_risk_at !== null) return "the buyer's wallet no longer covers it";
  const endedAt = redeemed_at ?? voided_at;
  return endedAt !== null && endedAt >= capture_ends_at ? 'its window is over' : null;
};

const BY_BUYER = 'its buyer has closed it, or the key, sign-in or account that opened it was stopped';

/** @param isAlone no other process of the vendor can have ended it */
export const eventByApi = (
  verified: Verified,
  settlementId: string,
  isAlone: boolean,
): PaywallEvent | null => {
  const { status, quote_amount, fee_amount, authorization } = verified;
  const cause = causeOf(verified) ?? (isAlone ? BY_BUYER : null);
  if (cause === null) return null;
  const { used, least_capture } = authorization!;
  const why = `The API has ended ${settlementId}, because ${cause}`;
  if (status === 'failed') {
    const message = `${why}. Its capture failed, so nobody pays the use of ${displayUsdc(used)}`;
    return { event: 'released', resource: null, payment_id: settlementId, reason: ENDED_BY_API, message };
  }
  const ended =
    status !== 'voided' ? { paid: quote_amount, fee: fee_amount } : used === '0' ? null : { unpaid: used };
  const event = eventOf(ended, settlementId, least_capture);
  return event && { ...event, reason: event.reason ?? ENDED_BY_API, message: `${why}. ${event.message}` };
};

type Deps = { read: () => Promise<Verified>; isAlone: boolean; onEnd: (event: PaywallEvent) => void };

/** Logs once how an authorization has ended that this process has used. */
export const createEndWatch = (settlementId: string, endsAt: number, { read, isAlone, onEnd }: Deps) => {
  let isLogged = false;
  /** Cancels the look at the end of the window. Null: this process has used nothing of it. */
  let cancel: (() => void) | null = null;
  const log = (event: PaywallEvent | null): void => {
    if (isLogged || event === null) return;
    isLogged = true;
    onEnd(event);
  };
  /** @param isSure the API has refused use of this process, so no other process has ended it */
  const logByApi = async (isSure: boolean): Promise<void> => {
    for (let tries = 0; tries < TRIES && !isLogged; tries += 1) {
      // The log must not fail a call, and the next try may succeed.
      const verified = await read().catch(() => null);
      if (verified !== null && verified.status !== 'authorized')
        return log(eventByApi(verified, settlementId, isSure || isAlone));
      await pause(PAUSE_MS * 2 ** tries);
    }
  };
  return {
    /** This process has use of it. Without a look at the end of its window, nobody might see it. */
    used: (): void => {
      cancel ??= later(Math.max(0, endsAt - Date.now()) + AFTER_MS, () => void logByApi(false));
    },
    /** This process has ended it. */
    ended: (event: PaywallEvent | null): void => {
      log(event);
      isLogged = true;
      cancel?.();
    },
    logByApi: (isSure: boolean): void => {
      if (cancel !== null) void logByApi(isSure);
    },
  };
};
export type EndWatch = ReturnType<typeof createEndWatch>;
