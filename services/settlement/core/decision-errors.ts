import { accountFrozen, ServiceError } from '../../../shared/contract/errors.ts';
import { declined, type PaymentDeclined } from '../declines/model.ts';
import type { Decision } from '../record/store/accept-attempts.ts';
import type { ExtensionDecision } from '../record/store/accept-extension.ts';
import type { ComparedLimit } from '../record/store/limits.ts';
import { EXTENSION_REFUSALS } from '../record/store/refusals.ts';

export const contended = (): ServiceError =>
  new ServiceError(
    'service_unavailable',
    'too many calls compete for this payment; repeat with the same payment_attempt_id',
    { money_moved: 'unknown', retryAfterSeconds: 1 },
  );

const quoteSettled = (): ServiceError =>
  new ServiceError('quote_already_settled', 'the quote is paid or being paid by another attempt', {
    safe_action: 'new_quote',
  });

/** Why an attempt was not accepted, and the figures that refused it. */
export type NotAccepted = {
  decision: Exclude<Decision | ExtensionDecision, 'accepted'>;
  compared: ComparedLimit | null;
  open_micro?: bigint | null | undefined;
  cap_micro?: bigint | null | undefined;
};

/**
 * The error of a settle that was not accepted, with the action that is safe when nothing was paid.
 * Whether anything was paid is decided by `refusalOf` alone.
 */
export const settleError = ({ decision, ...evaluated }: NotAccepted): ServiceError => {
  if (decision === 'existing' || decision === 'conflict') return contended();
  return decision === 'quote_settled' ? quoteSettled() : EXTENSION_REFUSALS[decision].error(evaluated);
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
