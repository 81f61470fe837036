/** What a call of the client can throw besides an abort. `generated/errors.ts` has a class for each code of the API. */

export type MoneyMoved = 'no' | 'yes' | 'unknown';
export type SafeAction =
  | 'retry_same_attempt'
  | 'read_settlement'
  | 'new_quote'
  | 'top_up'
  | 'raise_limit'
  | 'stop';

/** Everything of ours. */
export class QuittanceError extends Error {
  override readonly name: string = 'QuittanceError';
}

/** What an error answer says. */
export type ErrorBody = {
  code: string;
  message: string;
  details?: readonly { path: string; message: string }[];
  money_moved?: MoneyMoved;
  safe_action?: SafeAction;
  settlement_id?: string;
};
export type ResponseInfo = { status: number; requestId: string | null; retryAfterMs: number | null };

/** The API refused the call. A code that this version does not know has this class and no narrower one. */
export class ApiError extends QuittanceError {
  override readonly name: string = 'ApiError';
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** Which fields are wrong. */
  readonly details: readonly { path: string; message: string }[];
  /** Of calls that move money: whether this attempt did. `unknown` never means "not paid". */
  readonly moneyMoved: MoneyMoved | null;
  /** What to do next without the danger of paying twice. */
  readonly safeAction: SafeAction | null;
  /**
   * The settlement of the caller's own account that the refusal is about: with `read_settlement` it
   * is to be read.
   */
  readonly settlementId: string | null;
  /** Names the call in the logs of the API. */
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  /** The same call with the same ids may be sent again as it is. */
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
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
    // The table's word; of a code that came after this version, the status'.
    this.retryable = (new.target as { retryable?: boolean }).retryable ?? (status === 429 || status >= 500);
  }
}

/** No answer of the API came: network, time-out, or something before the API that answered in its place. */
export class NoAnswerError extends QuittanceError {
  override readonly name: string = 'NoAnswerError';
  /** Of what answered in the API's place. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    { status, retryAfterMs, cause }: Partial<ResponseInfo> & { cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status ?? null;
    this.retryAfterMs = retryAfterMs ?? null;
  }
}

/**
 * Waiting for a payment ended before it was decided: it may have been made, or be made yet. Settling the same quote with
 * the same attempt id later tells, and never pays twice.
 */
export class PaymentUndecidedError extends QuittanceError {
  override readonly name: string = 'PaymentUndecidedError';
  readonly paymentAttemptId: string;
  readonly quoteToken: string;

  constructor(paymentAttemptId: string, quoteToken: string, cause: unknown) {
    super(`payment ${paymentAttemptId} is not decided yet: settle again with the same id`, { cause });
    this.paymentAttemptId = paymentAttemptId;
    this.quoteToken = quoteToken;
  }
}

/**
 * The account has paid this quote, or is paying it, by a settlement that this key may not read: by
 * another delegate's key. Read it with that key or the account's own sign-in. To pay once more for
 * the same thing is never the way on.
 */
export class PaidElsewhereError extends PaymentUndecidedError {
  override readonly name: string = 'PaidElsewhereError';
  readonly settlementId: string;

  constructor(settlementId: string, paymentAttemptId: string, quoteToken: string, cause: unknown) {
    super(paymentAttemptId, quoteToken, cause);
    this.message = `settlement ${settlementId} of this account pays the quote: read it with the key that paid it, do not pay again`;
    this.settlementId = settlementId;
  }
}
