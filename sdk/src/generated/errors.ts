// Generated from shared/contract/ by `npm run generate`; do not edit.
import { ApiError } from '../errors.ts';

/** 400: The request body or parameters are invalid. */
export class ValidationError extends ApiError {
  override readonly name: string = 'ValidationError';
  declare readonly code: 'validation_error';
  static readonly retryable = false;
}

/** 401: The credential is missing or invalid. */
export class UnauthorizedError extends ApiError {
  override readonly name: string = 'UnauthorizedError';
  declare readonly code: 'unauthorized';
  static readonly retryable = false;
}

/** 402: Payment is needed first. */
export class PaymentRequiredError extends ApiError {
  override readonly name: string = 'PaymentRequiredError';
  declare readonly code: 'payment_required';
  static readonly retryable = false;
}

/** 402: The wallet balance is too small. */
export class InsufficientFundsError extends ApiError {
  override readonly name: string = 'InsufficientFundsError';
  declare readonly code: 'insufficient_funds';
  static readonly retryable = false;
}

/** 403: This kind of credential may not do this. */
export class ForbiddenError extends ApiError {
  override readonly name: string = 'ForbiddenError';
  declare readonly code: 'forbidden';
  static readonly retryable = false;
}

/** 403: A spending limit of the delegate is used up. */
export class LimitExceededError extends ApiError {
  override readonly name: string = 'LimitExceededError';
  declare readonly code: 'limit_exceeded';
  static readonly retryable = false;
}

/** 403: The owner must approve this payment. No money moved. */
export class ApprovalRequiredError extends ApiError {
  override readonly name: string = 'ApprovalRequiredError';
  declare readonly code: 'approval_required';
  static readonly retryable = false;
}

/** 403: The owner has denied this payment. */
export class ApprovalDeniedError extends ApiError {
  override readonly name: string = 'ApprovalDeniedError';
  declare readonly code: 'approval_denied';
  static readonly retryable = false;
}

/** 410: The owner did not approve in time. */
export class ApprovalExpiredError extends ApiError {
  override readonly name: string = 'ApprovalExpiredError';
  declare readonly code: 'approval_expired';
  static readonly retryable = false;
}

/** 403: Sign in again, then repeat the call. */
export class ReauthenticationRequiredError extends ApiError {
  override readonly name: string = 'ReauthenticationRequiredError';
  declare readonly code: 'reauthentication_required';
  static readonly retryable = false;
}

/** 404: The resource does not exist. */
export class NotFoundError extends ApiError {
  override readonly name: string = 'NotFoundError';
  declare readonly code: 'not_found';
  static readonly retryable = false;
}

/** 405: The path has no such method. See the Allow header. */
export class MethodNotAllowedError extends ApiError {
  override readonly name: string = 'MethodNotAllowedError';
  declare readonly code: 'method_not_allowed';
  static readonly retryable = false;
}

/** 409: The resource exists already or is in another state. */
export class ConflictError extends ApiError {
  override readonly name: string = 'ConflictError';
  declare readonly code: 'conflict';
  static readonly retryable = false;
}

/** 409: The wallet allows no spending, or too little. */
export class DelegationInactiveError extends ApiError {
  override readonly name: string = 'DelegationInactiveError';
  declare readonly code: 'delegation_inactive';
  static readonly retryable = false;
}

/** 409: The quote is paid or being paid. */
export class QuoteAlreadySettledError extends ApiError {
  override readonly name: string = 'QuoteAlreadySettledError';
  declare readonly code: 'quote_already_settled';
  static readonly retryable = false;
}

/** 422: The idempotency key was used for another request. */
export class IdempotencyMismatchError extends ApiError {
  override readonly name: string = 'IdempotencyMismatchError';
  declare readonly code: 'idempotency_mismatch';
  static readonly retryable = false;
}

/** 409: Fewer units remain than the call requests. */
export class SettlementExhaustedError extends ApiError {
  override readonly name: string = 'SettlementExhaustedError';
  declare readonly code: 'settlement_exhausted';
  static readonly retryable = false;
}

/** 409: Less of the authorized amount remains than the call reports as used. */
export class UsageExceedsAuthorizationError extends ApiError {
  override readonly name: string = 'UsageExceedsAuthorizationError';
  declare readonly code: 'usage_exceeds_authorization';
  static readonly retryable = false;
}

/** 409: The authorization accepts no further use. */
export class AuthorizationClosedError extends ApiError {
  override readonly name: string = 'AuthorizationClosedError';
  declare readonly code: 'authorization_closed';
  static readonly retryable = false;
}

/** 409: The amount to capture does not exceed the fee. */
export class CaptureBelowFeeError extends ApiError {
  override readonly name: string = 'CaptureBelowFeeError';
  declare readonly code: 'capture_below_fee';
  static readonly retryable = false;
}

/** 409: The payment failed finally. No money moved. */
export class PaymentFailedError extends ApiError {
  override readonly name: string = 'PaymentFailedError';
  declare readonly code: 'payment_failed';
  static readonly retryable = false;
}

/** 410: The quote has passed its expiry. */
export class QuoteExpiredError extends ApiError {
  override readonly name: string = 'QuoteExpiredError';
  declare readonly code: 'quote_expired';
  static readonly retryable = false;
}

/** 410: The redeem window has elapsed. */
export class SettlementExpiredError extends ApiError {
  override readonly name: string = 'SettlementExpiredError';
  declare readonly code: 'settlement_expired';
  static readonly retryable = false;
}

/** 413: The request body is too large. */
export class PayloadTooLargeError extends ApiError {
  override readonly name: string = 'PayloadTooLargeError';
  declare readonly code: 'payload_too_large';
  static readonly retryable = false;
}

/** 415: The request body must be JSON: send Content-Type: application/json. */
export class UnsupportedMediaTypeError extends ApiError {
  override readonly name: string = 'UnsupportedMediaTypeError';
  declare readonly code: 'unsupported_media_type';
  static readonly retryable = false;
}

/** 429: Too many requests. See Retry-After. */
export class RateLimitedError extends ApiError {
  override readonly name: string = 'RateLimitedError';
  declare readonly code: 'rate_limited';
  static readonly retryable = true;
}

/** 500: An internal error. The call can safely be repeated with the same ids. */
export class InternalError extends ApiError {
  override readonly name: string = 'InternalError';
  declare readonly code: 'internal_error';
  static readonly retryable = true;
}

/** 503: Temporarily unavailable. The call can safely be repeated with the same ids. */
export class ServiceUnavailableError extends ApiError {
  override readonly name: string = 'ServiceUnavailableError';
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
  usage_exceeds_authorization: UsageExceedsAuthorizationError,
  authorization_closed: AuthorizationClosedError,
  capture_below_fee: CaptureBelowFeeError,
  payment_failed: PaymentFailedError,
  quote_expired: QuoteExpiredError,
  settlement_expired: SettlementExpiredError,
  payload_too_large: PayloadTooLargeError,
  unsupported_media_type: UnsupportedMediaTypeError,
  rate_limited: RateLimitedError,
  internal_error: InternalError,
  service_unavailable: ServiceUnavailableError,
} as const;
