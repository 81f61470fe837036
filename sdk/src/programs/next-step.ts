import type { ApiError } from '../errors.ts';
import type { ERROR_CLASSES } from '../generated/errors.ts';

/** What a caller can do after a refusal. The console, the command and the tools of MCP say it. */
export type NextStep =
  /** Change what the message names. The same call is refused again. */
  | 'correct'
  /** Use the credential, or do it at the place, that the message names. */
  | 'other_credential'
  | 'sign_in'
  | 'check_id'
  /** The state of the object is in the way, and the message names it. */
  | 'read_state'
  | 'read_settlement'
  | 'new_quote'
  | 'new_payment'
  | 'top_up'
  | 'raise_limit'
  | 'await_approval'
  | 'ask_owner'
  | 'repeat_later'
  /** Repeat it. If it fails again, only the support can help. */
  | 'repeat_or_support';

/** The step after each code where `safe_action` names none of its own. */
export const STEP_AFTER: Record<keyof typeof ERROR_CLASSES, NextStep> = {
  validation_error: 'correct',
  unauthorized: 'sign_in',
  payment_required: 'new_payment',
  insufficient_funds: 'top_up',
  forbidden: 'other_credential',
  limit_exceeded: 'raise_limit',
  approval_required: 'await_approval',
  approval_denied: 'ask_owner',
  approval_expired: 'new_quote',
  reauthentication_required: 'sign_in',
  not_found: 'check_id',
  method_not_allowed: 'correct',
  conflict: 'read_state',
  delegation_inactive: 'raise_limit',
  quote_already_settled: 'new_quote',
  idempotency_mismatch: 'correct',
  settlement_exhausted: 'new_payment',
  usage_exceeds_authorization: 'correct',
  authorization_closed: 'new_payment',
  capture_below_fee: 'correct',
  payment_failed: 'new_quote',
  quote_expired: 'new_quote',
  settlement_expired: 'read_state',
  payload_too_large: 'correct',
  unsupported_media_type: 'correct',
  rate_limited: 'repeat_later',
  internal_error: 'repeat_or_support',
  service_unavailable: 'repeat_later',
};

const OWN_STEPS = ['read_settlement', 'new_quote', 'top_up', 'raise_limit', 'await_approval'] as const;

/**
 * The step that can work after a refusal. `retry_same_attempt` and `stop` only say whether the ids
 * may be used again, so the code decides what has to change.
 */
export const nextStepOf = (error: ApiError): NextStep => {
  const { code, safeAction, retryable } = error;
  const own = OWN_STEPS.find((each) => each === safeAction);
  if (own !== undefined) return own;
  if (Object.hasOwn(STEP_AFTER, code)) return STEP_AFTER[code as keyof typeof STEP_AFTER];
  return retryable ? 'repeat_later' : 'read_state';
};
