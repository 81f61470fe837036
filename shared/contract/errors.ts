import type { LimitName } from './limits.ts';

/**
 * The only table of error codes. A code that is not in it does not compile. OpenAPI, the gateway
 * and the SDK read it. `retryable`: the same call with the same ids may be repeated unchanged.
 */
export const ERRORS = {
  validation_error: { http: 400, retryable: false, meaning: 'The request body or parameters are invalid.' },
  unauthorized: { http: 401, retryable: false, meaning: 'The credential is missing or invalid.' },
  payment_required: { http: 402, retryable: false, meaning: 'Payment is needed first.' },
  insufficient_funds: { http: 402, retryable: false, meaning: 'The wallet balance is too small.' },
  forbidden: { http: 403, retryable: false, meaning: 'This kind of credential may not do this.' },
  limit_exceeded: { http: 403, retryable: false, meaning: 'A spending limit of the delegate is used up.' },
  approval_required: {
    http: 403,
    retryable: false,
    meaning: 'The owner must approve this payment. No money moved.',
  },
  approval_denied: { http: 403, retryable: false, meaning: 'The owner has denied this payment.' },
  approval_expired: { http: 410, retryable: false, meaning: 'The owner did not approve in time.' },
  reauthentication_required: { http: 403, retryable: false, meaning: 'Sign in again, then repeat the call.' },
  not_found: { http: 404, retryable: false, meaning: 'The resource does not exist.' },
  method_not_allowed: {
    http: 405,
    retryable: false,
    meaning: 'The path has no such method. See the Allow header.',
  },
  conflict: { http: 409, retryable: false, meaning: 'The resource exists already or is in another state.' },
  delegation_inactive: {
    http: 409,
    retryable: false,
    meaning: 'The wallet allows no spending, or too little.',
  },
  quote_already_settled: { http: 409, retryable: false, meaning: 'The quote is paid or being paid.' },
  idempotency_mismatch: {
    http: 422,
    retryable: false,
    meaning: 'The idempotency key was used for another request.',
  },
  settlement_exhausted: {
    http: 409,
    retryable: false,
    meaning: 'Fewer units remain than the call requests.',
  },
  usage_exceeds_authorization: {
    http: 409,
    retryable: false,
    meaning: 'Less of the authorized amount remains than the call reports as used.',
  },
  authorization_closed: {
    http: 409,
    retryable: false,
    meaning: 'The authorization accepts no further use.',
  },
  capture_below_fee: {
    http: 409,
    retryable: false,
    meaning: 'The amount to capture does not exceed the fee.',
  },
  payment_failed: { http: 409, retryable: false, meaning: 'The payment failed finally. No money moved.' },
  quote_expired: { http: 410, retryable: false, meaning: 'The quote has passed its expiry.' },
  settlement_expired: { http: 410, retryable: false, meaning: 'The redeem window has elapsed.' },
  payload_too_large: { http: 413, retryable: false, meaning: 'The request body is too large.' },
  unsupported_media_type: {
    http: 415,
    retryable: false,
    meaning: 'The request body must be JSON: send Content-Type: application/json.',
  },
  rate_limited: { http: 429, retryable: true, meaning: 'Too many requests. See Retry-After.' },
  internal_error: {
    http: 500,
    retryable: true,
    meaning: 'An internal error. The call can safely be repeated with the same ids.',
  },
  service_unavailable: {
    http: 503,
    retryable: true,
    meaning: 'Temporarily unavailable. The call can safely be repeated with the same ids.',
  },
} as const satisfies Record<string, { http: number; retryable: boolean; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Whether the call of an error moved money. `unknown` never means "not paid". */
export const MONEY_MOVED = ['no', 'yes', 'unknown'] as const;
export type MoneyMoved = (typeof MONEY_MOVED)[number];

/** What a caller may do next without the risk of paying twice. */
export const SAFE_ACTIONS = [
  'retry_same_attempt',
  /**
   * The caller's account has a settlement for this quote: `settlement_id` names it, GET shows it.
   */
  'read_settlement',
  'new_quote',
  'top_up',
  'raise_limit',
  /**
   * The owner decides about the approval that `approval_id` names. Then the same attempt goes on.
   */
  'await_approval',
  'stop',
] as const;
export type SafeAction = (typeof SAFE_ACTIONS)[number];

/** The limit that refused a payment. Amounts are digits of micro-units. */
type LimitFigures = {
  name: LimitName;
  /** The amount of the payment. */
  asked: string;
  limit: string;
  /** What no other payment has used or holds; never negative. */
  left: string;
  /** When a daily or monthly limit starts again, ISO 8601. Null for the others. */
  resets_at: string | null;
};

/**
 * Everything that an error may report to the caller besides its code and message. Internal details
 * do not belong here.
 */
export type ErrorExtras = {
  details?: readonly { path: string; message: string }[];
  money_moved?: MoneyMoved;
  safe_action?: SafeAction;
  /** The settlement of the caller's own account that the attempt or the quote belongs to. */
  settlement_id?: string;
  /** The approval that the payment needs. */
  approval_id?: string;
  /** The limit that refused the payment. Only its payer gets it. */
  limit?: LimitFigures;
  retryAfterSeconds?: number;
};

/** The body under the key "error" as a service reports it (docs/spec/interface.md, Errors). */
export type ErrorBody = { code: ErrorCode; message: string } & Omit<ErrorExtras, 'retryAfterSeconds'>;

/** What the gateway adds to every error: the call in our logs, and the page about the code. */
export type ErrorReference = { request_id: string; docs_url: string };

/** The type of an error for a caller who asks for it (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/** The address of the documentation of an error code. @param publicUrl the gateway's base URL */
export const errorDocsUrl = (publicUrl: string, code: ErrorCode): string =>
  `${publicUrl.replace(/\/$/, '')}/docs/errors#${code}`;

/**
 * An expected failure. Any other error that is thrown is a bug, and is answered with 500 and no
 * details.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly extras: ErrorExtras;
  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
    this.extras = extras;
  }
}

/**
 * validation_error in the form that the contract's schema check gives it.
 * @param message what the value must be. Callers get `<field>: <message>`, and the same as details.
 */
export const invalid = (field: string, message: string, extras: ErrorExtras = {}): ServiceError =>
  new ServiceError('validation_error', `${field}: ${message}`, {
    ...extras,
    details: [{ path: field, message }],
  });

/** not_found, also for an object of another account. @param what a noun: `wallet` */
export const notFound = (what: string): ServiceError => new ServiceError('not_found', `no such ${what}`);

/** conflict: the state of an object does not allow the call. */
export const conflict = (message: string, extras: ErrorExtras = {}): ServiceError =>
  new ServiceError('conflict', message, extras);

/**
 * service_unavailable, for what another version has written and this one does not know. During an
 * upgrade a repeat reaches a process that does. An earlier call with the same ids may have been
 * carried out.
 */
export const ofAnotherVersion = (): ServiceError =>
  new ServiceError(
    'service_unavailable',
    'another version of the service is needed for this, and an upgrade is under way; repeat the call with the same ids, which is safe',
    { money_moved: 'unknown', safe_action: 'retry_same_attempt', retryAfterSeconds: 5 },
  );

/** The refusal of a frozen account, the same in every service. */
export const accountFrozen = (extras: ErrorExtras = {}): ServiceError =>
  new ServiceError(
    'forbidden',
    'this account is frozen: paid settlements can be read, redeemed and refunded, and nothing new can be started; contact support',
    extras,
  );

/** True for a string that names an error of the table. */
export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === 'string' && Object.hasOwn(ERRORS, value);
