import {
  conflict,
  ERRORS,
  type ErrorCode,
  isErrorCode,
  type MoneyMoved,
  type SafeAction,
  ServiceError,
} from '../../../../shared/contract/errors.ts';
import type { ChainStatus, Status } from './status.ts';

/** The columns of a settlement that a refusal depends on. */
export type SettlementState = { settlement_id: string; status: Status; chain_status: ChainStatus };

/** The records of an attempt and its quote, read after the refusal. */
export type Records = {
  /** The attempt of the caller's account, with any quote and by any delegate. */
  attempt: SettlementState | null;
  /** The settlement of the caller's account that pays or paid the quote; never a failed one. */
  paying: SettlementState | null;
};

/** Whether it is certain that a settlement moved no money and never will. */
const hasEndedUnpaid = ({ status }: Pick<SettlementState, 'status'>): boolean =>
  status === 'failed' || status === 'voided';

/**
 * Whether a payment's money has moved, by its settlement: `unknown` while it is pending,
 * authorized, forked away or reversed for good, unless the settlement failed or is void. The
 * refusals of every rail have their `money_moved` from here (docs/adr/0034).
 * @param row null: nothing was ever accepted
 */
export const moneyMovedBy = (row: Pick<SettlementState, 'status' | 'chain_status'> | null): MoneyMoved => {
  if (row === null || hasEndedUnpaid(row)) return 'no';
  return row.chain_status === 'confirmed' || row.chain_status === 'finalized' ? 'yes' : 'unknown';
};

const safeActionAfter = (code: ErrorCode): SafeAction => {
  if (code === 'insufficient_funds') return 'top_up';
  return code === 'delegation_inactive' ? 'raise_limit' : 'new_quote';
};

type Failure = { failure_code: string | null; failure_message: string | null };

/**
 * The error of a settlement that failed, from its recorded reason.
 * @param settlementId for a caller who is not told it otherwise
 */
export const failedError = (
  { failure_code, failure_message }: Failure,
  settlementId?: string,
): ServiceError => {
  const code = isErrorCode(failure_code) ? failure_code : 'payment_failed';
  return new ServiceError(code, failure_message ?? 'the payment failed', {
    money_moved: moneyMovedBy({ status: 'failed', chain_status: 'failed' }),
    safe_action: safeActionAfter(code),
    ...(settlementId !== undefined && { settlement_id: settlementId }),
  });
};

/** The error of a repeat whose authorization has ended without a payment. */
export const voidedError = ({ settlement_id }: { settlement_id: string }): ServiceError =>
  conflict('the authorization was voided, and nothing was paid; get a new quote', {
    money_moved: 'no',
    safe_action: 'new_quote',
    settlement_id,
  });

/** Refuses a new attempt for a quote that another attempt of the account pays or has paid. */
const alreadySettled = (): ServiceError =>
  new ServiceError(
    'quote_already_settled',
    'this account has paid the quote, or is paying it, by another attempt',
  );

/**
 * The error of a refused settle. It never has `money_moved: no` while the account has a settlement
 * that pays the quote, or while the attempt id belongs to another payment. In that case it names
 * that settlement.
 * @param refusal its code, its message and the action that is safe when nothing was paid
 */
export const refusalOf = (refusal: ServiceError, { attempt, paying }: Records): ServiceError => {
  const named = paying ?? (attempt === null || hasEndedUnpaid(attempt) ? null : attempt);
  if (named !== null) {
    // An invalid token stays the caller's error. The payment has precedence over every other
    // reason.
    const isNew = attempt === null && refusal.code !== 'validation_error';
    const { code, message, extras } = isNew ? alreadySettled() : refusal;
    return new ServiceError(code, message, {
      ...(extras.details && { details: extras.details }),
      money_moved: moneyMovedBy(named),
      safe_action: 'read_settlement',
      settlement_id: named.settlement_id,
    });
  }
  const { retryable } = ERRORS[refusal.code];
  return new ServiceError(refusal.code, refusal.message, {
    money_moved: retryable ? 'unknown' : moneyMovedBy(attempt),
    safe_action: retryable ? 'retry_same_attempt' : 'stop',
    ...refusal.extras,
  });
};
