import { ERRORS, type MoneyMoved, ServiceError } from '../../../../shared/contract/errors.ts';
import type { ChainStatus, Status } from './status.ts';

/** A settlement as far as a refusal speaks of it. */
export type SettlementState = { settlement_id: string; status: Status; chain_status: ChainStatus };

/** What the record says of an attempt and of its quote, read after the refusal. */
export type Records = {
  /** The attempt of the caller's account, with whichever quote and by whichever delegate. */
  attempt: SettlementState | null;
  /** The settlement of the caller's account that pays the quote, or has paid it; never a failed one. */
  paying: SettlementState | null;
  /** Records of the time of this quote are lost, and the chain has not said that nothing was paid. */
  mayBeLost: boolean;
};

/** Whether money of a settlement has moved: pending, forked away and reversed for good are `unknown` unless it failed. */
export const moneyMovedBy = ({ status, chain_status }: SettlementState): MoneyMoved => {
  if (status === 'failed') return 'no';
  return chain_status === 'confirmed' || chain_status === 'finalized' ? 'yes' : 'unknown';
};

const LOST_RETRY_SECONDS = 30;
const lost = (): ServiceError =>
  new ServiceError(
    'service_unavailable',
    'records of this time were lost, and the chain has not shown yet whether this quote was paid; repeat with the same payment_attempt_id',
    { money_moved: 'unknown', safe_action: 'retry_same_attempt', retryAfterSeconds: LOST_RETRY_SECONDS },
  );

/** The refusal of an attempt that is new, for a quote that another attempt of the account has paid or is paying. */
const alreadySettled = (): ServiceError =>
  new ServiceError(
    'quote_already_settled',
    'this account has paid the quote, or is paying it, by another attempt',
  );

/**
 * What a payer is told when a settle is refused. No refusal says `no` while the record holds a settlement of the account
 * that pays the quote, or the attempt id stands for another payment: it names that settlement then.
 * @param refusal its code, its message and the action that is safe when nothing was paid
 */
export const refusalOf = (refusal: ServiceError, { attempt, paying, mayBeLost }: Records): ServiceError => {
  const named = paying ?? (attempt?.status === 'failed' ? null : attempt);
  if (named !== null) {
    // A token that does not hold stays the caller's mistake; every other reason matters less than the payment.
    const isNew = attempt === null && refusal.code !== 'validation_error';
    const { code, message, extras } = isNew ? alreadySettled() : refusal;
    return new ServiceError(code, message, {
      ...(extras.details && { details: extras.details }),
      money_moved: moneyMovedBy(named),
      safe_action: 'read_settlement',
      settlement_id: named.settlement_id,
    });
  }
  if (mayBeLost && attempt === null) return lost();
  const { retryable } = ERRORS[refusal.code];
  return new ServiceError(refusal.code, refusal.message, {
    money_moved: retryable ? 'unknown' : 'no',
    safe_action: retryable ? 'retry_same_attempt' : 'stop',
    ...refusal.extras,
  });
};
