import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Decision } from './store/accept-attempts.ts';

const limit = (message: string) => (): ServiceError =>
  new ServiceError('limit_exceeded', message, { safe_action: 'raise_limit' });
const forbidden = (message: string) => (): ServiceError => new ServiceError('forbidden', message);
const internal = (): ServiceError => new ServiceError('internal_error', 'internal error');

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
export const DECISION_ERRORS: Record<
  Exclude<Decision, 'accepted' | 'approval_required'>,
  () => ServiceError
> = {
  quote_settled: quoteSettled,
  quote_expired: () =>
    new ServiceError('quote_expired', 'the quote has expired', { safe_action: 'new_quote' }),
  delegate_unknown: forbidden('the limits of this delegate are not known here'),
  service_not_allowed: forbidden('this delegate may not pay this service'),
  over_per_payment: limit('per_payment: the payment is above the limit of one payment'),
  over_daily: limit('daily: the limit of the day would be exceeded'),
  over_monthly: limit('monthly: the limit of the month would be exceeded'),
  over_total: limit('total: the limit of this delegate would be exceeded'),
  balance_short: () =>
    new ServiceError(
      'insufficient_funds',
      'the wallet balance, less what other payments hold, is too small',
      { safe_action: 'top_up' },
    ),
  allowance_short: () =>
    new ServiceError('delegation_inactive', 'the wallet allows no spending, or less than this payment', {
      safe_action: 'raise_limit',
    }),
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
export const feeBudgetUsedUp = (retryAfterSeconds: number): ServiceError =>
  new ServiceError(
    'service_unavailable',
    'no more payments are signed today; repeat with the same payment_attempt_id',
    { money_moved: 'no', safe_action: 'retry_same_attempt', retryAfterSeconds },
  );

/**
 * An operator begins and ends a pause, so clients get a longer retry time than for a short failure.
 */
const PAUSE_RETRY_SECONDS = 30;
export const paymentsPaused = (): ServiceError =>
  new ServiceError(
    'service_unavailable',
    'new payments are paused; accepted ones continue. Repeat with the same payment_attempt_id',
    { money_moved: 'no', retryAfterSeconds: PAUSE_RETRY_SECONDS },
  );

/**
 * The quote is the reason, not the caller. Another credential would not help, so the code is not
 * 403.
 */
export const vendorFrozen = (): ServiceError =>
  conflict('the vendor of this quote accepts no payments at the moment');
