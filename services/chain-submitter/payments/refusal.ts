import type { IncomingReason, OutgoingReason } from '../../../shared/contract/chain-submitter.ts';
import type { Failure } from '../ledger/model/failure.ts';

/** Why a rail refuses a payment. */
export type Reason = IncomingReason | OutgoingReason;

/** A payment that is not signed. Nothing was signed for it. */
export class PaymentRefusal<R extends Reason> extends Error {
  override name = 'PaymentRefusal';
  readonly reason: R;
  constructor(reason: R, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A refusal as the answer of a call. */
export type Refused<R> = { outcome: 'refused'; reason: R; message: string };

/** @throws PaymentRefusal */
export const refuser =
  <R extends Reason>() =>
  (reason: R, message: string): never => {
    throw new PaymentRefusal(reason, message);
  };

/** The failure that a refused payment is recorded with. */
export const failureOf = (reason: Reason, message: string): Failure => ({
  code: reason === 'insufficient_funds' || reason === 'delegation_inactive' ? reason : 'payment_failed',
  message,
});

/** Runs work for a caller. A refusal becomes its answer. */
export const answerRefusal = async <T, R extends Reason>(work: () => Promise<T>): Promise<T | Refused<R>> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PaymentRefusal)) throw error;
    return { outcome: 'refused', reason: error.reason, message: error.message };
  }
};
