// Generated from shared/contract/ by `npm run generate`; do not edit.
import { ApiError } from '../errors.ts';

/** 400: The request body or parameters are invalid. */
export class ValidationError extends ApiError {
  declare readonly code: 'validation_error';
  static readonly retryable = false;
}

/** 401: The credential is missing or invalid. */
export class UnauthorizedError extends ApiError {
  declare readonly code: 'unauthorized';
  static readonly retryable = false;
}

/** 402: Payment is needed first. */
export class PaymentRequiredError extends ApiError {
  declare readonly code: 'payment_required';
  static readonly retryable = false;
}

/** 402: The wallet balance is too small. */
export class InsufficientFundsError extends ApiError {
  declare readonly code: 'insufficient_funds';
  static readonly retryable = false;
}

/** 403: This kind of credential may not do this. */
export class ForbiddenError extends ApiError {
  declare readonly code: 'forbidden';
  static readonly retryable = false;
}

/** 403: A spending limit of the delegate is used up. */
export class LimitExceededError extends ApiError {
  declare readonly code: 'limit_exceeded';
  static readonly retryable = false;
}

/** 403: The owner must approve this payment. No money moved. */
export class ApprovalRequiredError extends ApiError {
  declare readonly code: 'approval_required';
  static readonly retryable = false;
}

/** 403: The owner has denied this payment. */
export class ApprovalDeniedError extends ApiError {
  declare readonly code: 'approval_denied';
  static readonly retryable = false;
}

/** 410: The owner did not approve in time. */
export class ApprovalExpiredError extends ApiError {
  declare readonly code: 'approval_expired';
  static readonly retryable = false;
}

/** 403: Sign in again, then repeat the call. */
export class ReauthenticationRequiredError extends ApiError {
  declare readonly code: 'reauthentication_required';
  static readonly retryable = false;
}

/** 404: The resource does not exist. */
export class NotFoundError extends ApiError {
  declare readonly code: 'not_found';
  static readonly retryable = false;
}

/** 405: The path has no such method. See the Allow header. */
export class MethodNotAllowedError extends ApiError {
  declare readonly code: 'method_not_allowed';
  static readonly retryable = false;
}

/** 409: The resource exists already or is in another state. */
export class ConflictError extends ApiError {
  declare readonly code: 'conflict';
  static readonly retryable = false;
}

/** 409: The wallet allows no spending, or too little. */
export class DelegationInactiveError extends ApiError {
  declare readonly code: 'delegation_inactive';
  static readonly retryable = false;
}

/** 409: The quote is paid or being paid. */
export class QuoteAlreadySettledError extends ApiError {
  declare readonly code: 'quote_already_settled';
  static readonly retryable = false;
}

/** 409: The idempotency key was used for another request. */
export class IdempotencyMismatchError extends ApiError {
  declare readonly code: 'idempotency_mismatch';
  static readonly retryable = false;
}

/** 409: Fewer units remain than the call requests. */
export class SettlementExhaustedError extends ApiError {
  declare readonly code: 'settlement_exhausted';
  static readonly retryable = false;
}

/** 409: The payment failed finally. No money moved. */
export class PaymentFailedError extends ApiError {
  declare readonly code: 'payment_failed';
  static readonly retryable = false;
}

/** 410: The quote has passed its expiry. */
export class QuoteExpiredError extends ApiError {
  declare readonly code: 'quote_expired';
  static readonly retryable = false;
}

/** 410: The redeem window has elapsed. */
export class SettlementExpiredError extends ApiError {
  declare readonly code: 'settlement_expired';
  static readonly retryable = false;
}

/** 413: The request body is too large. */
export class PayloadTooLargeError extends ApiError {
  declare readonly code: 'payload_too_large';
  static readonly retryable = false;
}

/** 415: The request body must be JSON. */
export class UnsupportedMediaTypeError extends ApiError {
  declare readonly code: 'unsupported_media_type';
  static readonly retryable = false;
}

/** 429: Too many requests. See Retry-After. */
export class RateLimitedError extends ApiError {
  declare readonly code: 'rate_limited';
  static readonly retryable = true;
}

/** 500: An internal error. The call can safely be repeated with the same ids. */
export class InternalError extends ApiError {
  declare readonly code: 'internal_error';
  static readonly retryable = true;
}

/** 503: Temporarily unavailable. The call can safely be repeated with the same ids. */
export class ServiceUnavailableError extends ApiError {
  declare readonly code: 'service_unavailable';
  static readonly retryable = true;
}

/** The class of each error code. */
export const ERROR_CLASSES = {
  validation_error: ValidationError,
  unauthorized: UnauthorizedError,
  payment_required: PaymentRequiredError,
  insufficient_funds: InsufficientFundsError,
  forbidden: ForbiddenError,
  limit_exceeded: LimitExceededError,
  approval_required: ApprovalRequiredError,
  approval_denied: ApprovalDeniedError,
  approval_expired: ApprovalExpiredError,
  reauthentication_required: ReauthenticationRequiredError,
  not_found: NotFoundError,
  method_not_allowed: MethodNotAllowedError,
  conflict: ConflictError,
  delegation_inactive: DelegationInactiveError,
  quote_already_settled: QuoteAlreadySettledError,
  idempotency_mismatch: IdempotencyMismatchError,
  settlement_exhausted: SettlementExhaustedError,
  payment_failed: PaymentFailedError,
  quote_expired: QuoteExpiredError,
  settlement_expired: SettlementExpiredError,
  payload_too_large: PayloadTooLargeError,
  unsupported_media_type: UnsupportedMediaTypeError,
  rate_limited: RateLimitedError,
  internal_error: InternalError,
  service_unavailable: ServiceUnavailableError,
} as const;
