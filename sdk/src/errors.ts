/**
 * The errors of a call, besides an abort. `generated/errors.ts` has a class for each
 * code of the API.
 */

import { wasNeverSent } from './never-sent.ts';

export type MoneyMoved = 'no' | 'yes' | 'unknown';
export type SafeAction =
  | 'retry_same_attempt'
  | 'read_settlement'
  | 'new_quote'
  | 'top_up'
  | 'raise_limit'
  | 'await_approval'
  | 'stop';

/** The base class of all errors of the SDK. */
export class QuittanceError extends Error {
  override readonly name: string = 'QuittanceError';
}

/**
 * The limit that refused a payment, as the API compared it. Amounts in USDC micro-units. Only the
 * payer gets it.
 */
export type LimitFigures = {
  /**
   * `per_payment`, `daily`, `monthly`, `total`, `account_per_payment`, `account_daily`, `balance`,
   * `allowance`, or a newer name.
   */
  name: string;
  /** What the payment asked for. */
  asked: string;
  /** Null: there is no fixed limit. */
  limit: string | null;
  /** What could still be spent. */
  left: string | null;
  /** When it is full again, ISO 8601 UTC. Null: not by itself. */
  resets_at: string | null;
};

/** The `error` object of an error answer. */
export type ErrorBody = {
  code: string;
  message: string;
  details?: readonly { path: string; message: string }[];
  money_moved?: MoneyMoved;
  safe_action?: SafeAction;
  settlement_id?: string;
  approval_id?: string;
  limit?: LimitFigures;
  request_id?: string;
  docs_url?: string;
};
export type ResponseInfo = { status: number; requestId: string | null; retryAfterMs: number | null };

/**
 * The API refused the call. An error code that this version does not know has this class.
 */
export class ApiError extends QuittanceError {
  override readonly name: string = 'ApiError';
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** The invalid fields. */
  readonly details: readonly { path: string; message: string }[];
  /** For calls that move money: whether this attempt did. `unknown` never means "not paid". */
  readonly moneyMoved: MoneyMoved | null;
  /** The next step that cannot pay twice. */
  readonly safeAction: SafeAction | null;
  /**
   * The settlement of the caller's account that the refusal is about. With `read_settlement`, read
   * it.
   */
  readonly settlementId: string | null;
  /** The approval that the payment needs. With `await_approval`, its owner decides about it. */
  readonly approvalId: string | null;
  /** The figures of the limit that refused the payment. Null: the refusal is about no limit. */
  readonly limit: LimitFigures | null;
  /** Identifies the call in the API's logs. Name it to the support. */
  readonly requestId: string | null;
  /** The page that explains the code. Null: the API names none. */
  readonly docsUrl: string | null;
  readonly retryAfterMs: number | null;
  /** True if the same call with the same ids may be sent again. */
  readonly retryable: boolean;
  /** Set on every refusal of a settle. */
  paymentAttemptId: string | null = null;

  constructor(said: ErrorBody, { status, requestId, retryAfterMs }: ResponseInfo) {
    super(said.message);
    this.code = said.code;
    this.status = status;
    this.details = said.details ?? [];
    this.moneyMoved = said.money_moved ?? null;
    this.safeAction = said.safe_action ?? null;
    this.settlementId = said.settlement_id ?? null;
    this.approvalId = said.approval_id ?? null;
    this.limit = said.limit ?? null;
    // The page of another origin may not read the header.
    this.requestId = requestId ?? said.request_id ?? null;
    this.docsUrl = said.docs_url ?? null;
    this.retryAfterMs = retryAfterMs;
    // From the generated table; for an unknown code, from the status.
    this.retryable = (new.target as { retryable?: boolean }).retryable ?? (status === 429 || status >= 500);
  }
}

/**
 * The API did not answer: a network error, a timeout, or an intermediary that answered instead.
 */
export class NoAnswerError extends QuittanceError {
  override readonly name: string = 'NoAnswerError';
  /** The status of the intermediary's answer. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** False: no connection was made, in this call and its retries, so it was not carried out. */
  wasSent: boolean;
  /**
   * Whether this call, or an earlier one with the same ids, moved money. A call that only reads or
   * changes no payment: `no`.
   */
  moneyMoved: MoneyMoved;

  constructor(
    message: string,
    {
      status,
      retryAfterMs,
      cause,
      moves = true,
    }: Partial<ResponseInfo> & { cause?: unknown; moves?: boolean } = {},
  ) {
    super(message, { cause });
    this.status = status ?? null;
    this.retryAfterMs = retryAfterMs ?? null;
    this.wasSent = cause === undefined || !wasNeverSent(cause);
    this.moneyMoved = moves ? 'unknown' : 'no';
  }
}

/**
 * The wait ended before the payment was decided. It may have been made, or may still be made.
 * Settle the same quote with the same attempt id later: this returns the outcome and never pays
 * twice.
 */
export class PaymentUndecidedError extends QuittanceError {
  override readonly name: string = 'PaymentUndecidedError';
  readonly paymentAttemptId: string;
  readonly quoteToken: string;
  /** False: no try of this call reached the API. An earlier call with the id may have paid. */
  wasSent = true;

  constructor(paymentAttemptId: string, quoteToken: string, cause: unknown) {
    super(`Payment ${paymentAttemptId} is not decided yet. Settle again with the same id.`, { cause });
    this.paymentAttemptId = paymentAttemptId;
    this.quoteToken = quoteToken;
  }
}

/**
 * The account has paid this quote, or is paying it, with another delegate's key, so this key may
 * not read the settlement. Read it with that key or the account's own sign-in. Do not pay again.
 */
export class PaidElsewhereError extends PaymentUndecidedError {
  override readonly name: string = 'PaidElsewhereError';
  readonly settlementId: string;

  constructor(settlementId: string, paymentAttemptId: string, quoteToken: string, cause: unknown) {
    super(paymentAttemptId, quoteToken, cause);
    this.message = `Settlement ${settlementId} of this account pays the quote. Read it with the key that paid it. Do not pay again.`;
    this.settlementId = settlementId;
  }
}
