import { type PaidElsewhereError, QuittanceError } from '../errors.ts';
import type { QuoteClaims } from '../tokens.ts';

/** What `payingFetch` throws besides what fetch, settle and the token check throw. */

/** This client declined to pay; nothing was paid for this request. */
export class PaymentDeclinedError extends QuittanceError {
  override readonly name: string = 'PaymentDeclinedError';
  /** The verified quote. */
  readonly quote: QuoteClaims;

  constructor(message: string, quote: QuoteClaims) {
    super(message);
    this.quote = quote;
  }
}

/** The quote is not for the address that was called: perhaps the bill of another site. */
export class ResourceMismatchError extends PaymentDeclinedError {
  override readonly name: string = 'ResourceMismatchError';
}

/** The price is above `maxAmount` or does not fit into what is left of the budget. */
export class PriceAboveCapError extends PaymentDeclinedError {
  override readonly name: string = 'PriceAboveCapError';
  readonly cap: 'maxAmount' | 'total' | 'perOrigin';

  constructor(cap: 'maxAmount' | 'total' | 'perOrigin', quote: QuoteClaims) {
    super(`${quote.quote_amount} micro-units are more than ${cap} allows`, quote);
    this.cap = cap;
  }
}

/** The origin, service or mint is not one that may be paid, or `approve` said no. */
export class NotAllowedError extends PaymentDeclinedError {
  override readonly name: string = 'NotAllowedError';
}

/** The quote's time is over by this machine's clock. */
export class QuoteLapsedError extends PaymentDeclinedError {
  override readonly name: string = 'QuoteLapsedError';
}

/** Another buyer pays the quote, and the vendor has none of its own for this request. */
export class QuoteTakenError extends PaymentDeclinedError {
  override readonly name: string = 'QuoteTakenError';
  /** Set where the other buyer is a delegate of the same account. */
  readonly elsewhere: PaidElsewhereError | null;

  constructor(quote: QuoteClaims, elsewhere: PaidElsewhereError | null = null) {
    super('the quote is paid by another buyer', quote);
    this.elsewhere = elsewhere;
  }
}

/** The body is too large to be kept for the second try. */
export class BodyTooLargeError extends QuittanceError {
  override readonly name: string = 'BodyTooLargeError';
}

/** The key stands for another request that is not delivered yet. */
export class PaymentKeyReusedError extends QuittanceError {
  override readonly name: string = 'PaymentKeyReusedError';
}

/**
 * Paid, and the vendor answered something else than the delivery. It is never paid again for the
 * same request.
 */
export class NotDeliveredError extends QuittanceError {
  override readonly name: string = 'NotDeliveredError';
  /** What to name to the vendor, who can refund it. */
  readonly settlementId: string;
  /** `x-payment-request-id` of the request. */
  readonly paymentRequestId: string;

  constructor(message: string, settlementId: string, paymentRequestId: string) {
    super(message);
    this.settlementId = settlementId;
    this.paymentRequestId = paymentRequestId;
  }
}

/**
 * The vendor answered the paid request with a redirect. It is not followed: the settlement is for
 * its address alone.
 */
export class PaidRedirectError extends NotDeliveredError {
  override readonly name: string = 'PaidRedirectError';
  /** Where to; browsers do not tell. */
  readonly location: string | null;

  constructor(location: string | null, settlementId: string, paymentRequestId: string) {
    super('the paid request was answered with a redirect', settlementId, paymentRequestId);
    this.location = location;
  }
}
