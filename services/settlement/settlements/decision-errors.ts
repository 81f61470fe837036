import { accountFrozen, type LimitName, ServiceError } from '../../../shared/contract/errors.ts';
import { type Compared, declined, overLimit, type PaymentDeclined } from '../declines/model.ts';
import type { Decision } from './store/accept-attempts.ts';

type Refusing = (compared: Compared | null) => ServiceError;

const internal = (): ServiceError => new ServiceError('internal_error', 'internal error');
const limit =
  (name: LimitName): Refusing =>
  (compared) =>
    // The statement returns the figures of each of these decisions.
    compared === null ? internal() : overLimit(name, compared);

const contended = (): ServiceError =>
  new ServiceError(
    'service_unavailable',
    'too many calls compete for this payment; repeat with the same payment_attempt_id',
    { money_moved: 'unknown', retryAfterSeconds: 1 },
  );

const quoteSettled = (): ServiceError =>
  new ServiceError('quote_already_settled', 'the quote is paid or being paid by another attempt', {
    safe_action: 'new_quote',
  });

/**
 * The error of each decision, with the action that is safe when nothing was paid. Whether anything
 * was paid is decided by `refusalOf` alone.
 */
export const DECISION_ERRORS: Record<Exclude<Decision, 'accepted' | 'approval_required'>, Refusing> = {
  quote_settled: quoteSettled,
  quote_expired: () => declined('quote_expired', 'the quote has expired', { safe_action: 'new_quote' }),
  delegate_unknown: () => declined('delegate_unknown', 'the limits of this delegate are not known here'),
  delegate_paused: () => declined('delegate_paused', 'the owner of this delegate has paused it'),
  service_not_allowed: () => declined('service_not_allowed', 'this delegate may not pay this service'),
  over_per_payment: limit('per_payment'),
  over_daily: limit('daily'),
  over_monthly: limit('monthly'),
  over_total: limit('total'),
  over_account_per_payment: limit('account_per_payment'),
  over_account_daily: limit('account_daily'),
  balance_short: limit('balance'),
  allowance_short: limit('allowance'),
  payer_unknown: internal,
  over_hourly_cap: internal,
  existing: contended,
  conflict: contended,
};

export const chainUnavailable = (): ServiceError =>
  new ServiceError(
    'service_unavailable',
    'the chain cannot be read; repeat with the same payment_attempt_id',
    { money_moved: 'no', retryAfterSeconds: 2 },
  );

/** Accepted payments have their share of the day's fee budget. A new one could not be signed. */
export const feeBudgetUsedUp = (retryAfterSeconds: number): PaymentDeclined =>
  declined('fee_budget', 'no more payments are signed today; repeat with the same payment_attempt_id', {
    money_moved: 'no',
    safe_action: 'retry_same_attempt',
    retryAfterSeconds,
  });

/**
 * An operator begins and ends a pause, so clients get a longer retry time than for a short failure.
 */
const PAUSE_RETRY_SECONDS = 30;
export const paymentsPaused = (): PaymentDeclined =>
  declined(
    'payments_paused',
    'new payments are paused; accepted ones continue. Repeat with the same payment_attempt_id',
    { money_moved: 'no', retryAfterSeconds: PAUSE_RETRY_SECONDS },
  );

/**
 * The quote is the reason, not the caller. Another credential would not help, so the code is not
 * 403.
 */
export const vendorFrozen = (): PaymentDeclined =>
  declined('vendor_frozen', 'the vendor of this quote accepts no payments at the moment');

/** The account is frozen. Repeats of its accepted payments are answered. */
export const payerFrozen = (): PaymentDeclined => {
  const { message, extras } = accountFrozen();
  return declined('account_frozen', message, extras);
};
