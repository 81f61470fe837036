import { displayUsdc } from '../../generated/usdc.ts';
import { BELOW_FEE, HIGH_FEE, type PaywallEvent } from './log.ts';

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
