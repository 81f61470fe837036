import type { Client } from '../../client.ts';
import { ApiError, NoAnswerError } from '../../errors.ts';
import type { Input, Output } from '../../types.ts';
import { backoffMs, sleep } from '../../wait.ts';
import { failed, type Refusal, unavailable } from './answers.ts';
import { CONFIGURATION } from './log.ts';
import { createThrottle } from './throttle.ts';

type Accepted = Output<'settlement.acceptForeign'>;
/** A payment of another protocol that is confirmed on chain and redeemed. */
export type IncomingSettlement = Extract<Accepted, { status: 'confirmed' }>;
export type IncomingPayment = Input<'settlement.acceptForeign'>;

/** The wait before the same call while the payment is pending. The API waits itself too. */
const PENDING_MS = 2000;
/** The pause before a repeat while the vendor has to act. */
const VENDOR_MS = 60_000;
/** Refusals of the payment itself. Any other refusal concerns the vendor or the moment. */
const REFUSALS = new Set([
  'conflict',
  'insufficient_funds',
  'payment_failed',
  'validation_error',
  'payload_too_large',
]);

/** What only the vendor can change. A buyer who signed again would get the same. */
const OF_THE_VENDOR = new Set(['facilitator_credit_exhausted', 'service_closing']);

/** The code that a message begins with: `simulation_failed` of `simulation_failed: no funds`. */
const reasonIn = ({ code, message, details }: ApiError): string => {
  const text = details.find(({ path }) => path === 'transaction')?.message ?? message;
  return /^([a-z]+(?:_[a-z]+)+): /.exec(text)?.[1] ?? code;
};

/**
 * Why a payment is not accepted, if that is certain. Clients of these protocols sign a further
 * payment for each 402, so neither an open outcome nor a payment that moved money may be one.
 */
const decisionOf = (error: unknown): Refusal | null => {
  if (error instanceof NoAnswerError) return null;
  if (!(error instanceof ApiError)) throw error;
  if (error.retryable || error.moneyMoved === 'unknown') return null;
  const reason = reasonIn(error);
  // A buyer who signed again would pay a second time. The vendor has the money, and may refund it.
  const isPaid = error.moneyMoved === 'yes';
  if (isPaid || OF_THE_VENDOR.has(reason)) return { ...unavailable(reason, VENDOR_MS), cause: error };
  if (REFUSALS.has(error.code)) return { ...failed(reason), cause: error };
  return { ...unavailable(CONFIGURATION), cause: error };
};

/**
 * Settles the payments of one vendor. An undecided call is repeated for `waitMs`. Then the answer
 * is 503, after which the same credential can be sent again.
 * @param waitMs of the whole wait
 */
export const createAcceptIncoming = (client: Client, pendingMs = PENDING_MS) => {
  const calls = createThrottle();
  /** One call within the time that is left. Null: it was not answered in time. */
  const ask = async (payment: IncomingPayment, leftMs: number): Promise<Accepted | null> => {
    const signal = AbortSignal.timeout(leftMs);
    try {
      return await calls(() => client.settlement.acceptForeign(payment, { signal }));
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  };

  return async (
    payment: IncomingPayment,
    waitMs: number,
  ): Promise<IncomingSettlement | 'spent' | Refusal> => {
    const deadline = Date.now() + waitMs;
    // After a call without an answer the API may have redeemed with this id, so the id must remain.
    let mayBeRedeemed = false;
    for (let tries = 0; ; tries += 1) {
      let pauseMs = pendingMs;
      let code = 'being_confirmed';
      try {
        const said = await ask(payment, Math.max(1, deadline - Date.now()));
        if (said?.status === 'confirmed')
          return !said.replayed || said.redeem_id === payment.redeem_id ? said : 'spent';
        mayBeRedeemed = true;
      } catch (error) {
        const decision = decisionOf(error);
        if (decision !== null) return decision;
        const undecided = error as ApiError | NoAnswerError;
        const isLimited = undecided instanceof ApiError && undecided.code === 'rate_limited';
        if (isLimited && !mayBeRedeemed) code = 'rate_limited';
        else mayBeRedeemed = true;
        pauseMs = undecided.retryAfterMs ?? backoffMs(tries);
      }
      if (Date.now() + pauseMs >= deadline) return unavailable(code, pauseMs);
      await sleep(pauseMs);
    }
  };
};
export type AcceptForeign = ReturnType<typeof createAcceptIncoming>;
