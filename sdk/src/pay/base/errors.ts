import type { QuoteClaims } from '../../checks/tokens.ts';
import { type PaidElsewhereError, QuittanceError } from '../../errors.ts';
import { displayUsdc } from '../../generated/usdc.ts';
import type { Price } from './price.ts';
import { reasonOf, type VendorProblem } from './problem.ts';

/** The errors of `payingFetch`, besides those of fetch, settle and the token check. */

/** This client declined to pay. Nothing was paid for this request. */
export class PaymentDeclinedError extends QuittanceError {
  override readonly name: string = 'PaymentDeclinedError';
  /** The verified quote, or the price that a vendor of x402 asks. */
  readonly quote: Price;

  constructor(message: string, quote: Price) {
    super(message);
    this.quote = quote;
  }
}

/** The quote is not for the called address. It may belong to another site. */
export class ResourceMismatchError extends PaymentDeclinedError {
  override readonly name: string = 'ResourceMismatchError';
}

type Cap = 'maxAmount' | 'tabs' | 'total' | 'perOrigin';

const ABOVE: Record<Cap, string> = {
  maxAmount: 'is above maxAmount',
  tabs: 'would exceed maxAmount with the ceilings that are open',
  total: 'would exceed budget.total',
  perOrigin: 'would exceed budget.perOrigin',
};

/** The price exceeds `maxAmount` or the rest of the budget. */
export class PriceAboveCapError extends PaymentDeclinedError {
  override readonly name: string = 'PriceAboveCapError';
  /** `tabs`: `maxAmount`, by the ceilings that are open together. */
  readonly cap: Cap;

  /** @param most the cap, in micro-units */
  constructor(cap: Cap, quote: Price, most: bigint) {
    super(`${displayUsdc(quote.quote_amount)} ${ABOVE[cap]} (${displayUsdc(most)}).`, quote);
    this.cap = cap;
  }
}

/** The vendor of what is used could hold the ceiling for longer than `maxWindowSeconds`. */
export class WindowTooLongError extends PaymentDeclinedError {
  override readonly name: string = 'WindowTooLongError';
  /** How long the vendor may take until its capture, in seconds. */
  readonly windowSeconds: number;

  /** @param most `maxWindowSeconds` */
  constructor(quote: Price, windowSeconds: number, most: number) {
    super(
      `The vendor could hold ${displayUsdc(quote.quote_amount)} for ${windowSeconds} seconds, which is longer than maxWindowSeconds (${most}).`,
      quote,
    );
    this.windowSeconds = windowSeconds;
  }
}

/** The origin, service or mint is not allowed, or `approve` returned false. */
export class NotAllowedError extends PaymentDeclinedError {
  override readonly name: string = 'NotAllowedError';
}

/** The browser does not let this page send a payment to the vendor. Nothing was paid. */
export class PaymentBlockedError extends PaymentDeclinedError {
  override readonly name: string = 'PaymentBlockedError';

  constructor(origin: string, quote: Price, cause: unknown) {
    super(
      `The vendor's CORS must allow PAYMENT_HEADERS: this page could not send them to ${origin}. Nothing was paid.`,
      quote,
    );
    this.cause = cause;
  }
}

/** The quote has expired by this machine's clock. */
export class QuoteLapsedError extends PaymentDeclinedError {
  override readonly name: string = 'QuoteLapsedError';
}

/** Another buyer pays the quote, and the vendor has no other quote for this request. */
export class QuoteTakenError extends PaymentDeclinedError {
  override readonly name: string = 'QuoteTakenError';
  declare readonly quote: QuoteClaims;
  /** Set if the other buyer is a delegate of the same account. */
  readonly elsewhere: PaidElsewhereError | null;

  constructor(quote: QuoteClaims, elsewhere: PaidElsewhereError | null = null) {
    super('Another buyer pays the quote.', quote);
    this.elsewhere = elsewhere;
  }
}

/** A price is asked for a body above `maxBodyBytes`, which cannot be sent again. */
export class BodyTooLargeError extends QuittanceError {
  override readonly name: string = 'BodyTooLargeError';
}

/** The key belongs to another request that is not delivered yet. */
export class PaymentKeyReusedError extends QuittanceError {
  override readonly name: string = 'PaymentKeyReusedError';
}

/**
 * The vendor was paid and did not deliver. The same request is never paid again.
 */
export class NotDeliveredError extends QuittanceError {
  override readonly name: string = 'NotDeliveredError';
  /** Name it to the vendor, who can refund it. */
  readonly settlementId: string;
  /** `x-payment-request-id` of the request. */
  readonly paymentRequestId: string;
  /** The transaction that paid the vendor. Null if this client does not know it. */
  readonly txHash: string | null;
  /** Why it does not deliver, by its own word. Null: it does not say so in the form of MPP. */
  readonly problem: VendorProblem | null;

  constructor(
    message: string,
    settlementId: string,
    paymentRequestId: string,
    { txHash = null, problem = null }: { txHash?: string | null; problem?: VendorProblem | null } = {},
  ) {
    super(message);
    this.settlementId = settlementId;
    this.paymentRequestId = paymentRequestId;
    this.txHash = txHash;
    this.problem = problem;
  }
}

/**
 * A vendor of x402 or MPP has the signed payment, does not deliver, and can still use it. The
 * amount stays reserved until the payment is seen on chain, or until it is proven that it can no
 * longer be included. The same call presents the same payment again.
 */
export class PaymentOpenError extends QuittanceError {
  override readonly name: string = 'PaymentOpenError';
  readonly settlementId: string;
  /** `x-payment-request-id` of the request. */
  readonly paymentRequestId: string;
  readonly quote: Price;
  /** Why it does not deliver, by its own word. Null: it does not say so in the form of MPP. */
  readonly problem: VendorProblem | null;

  constructor(
    settlementId: string,
    paymentRequestId: string,
    quote: Price,
    problem: VendorProblem | null = null,
  ) {
    super(
      `The vendor has the signed payment of settlement ${settlementId} and does not deliver.${reasonOf(problem)} ` +
        `${displayUsdc(quote.quote_amount)} stay reserved until the payment is proven to be made or impossible. ` +
        'Repeat the call: it presents the same payment and does not pay again.',
    );
    this.settlementId = settlementId;
    this.paymentRequestId = paymentRequestId;
    this.quote = quote;
    this.problem = problem;
  }
}

/**
 * The vendor answered the paid request with a redirect. It is not followed, because the settlement
 * is only for its address.
 */
export class PaidRedirectError extends NotDeliveredError {
  override readonly name: string = 'PaidRedirectError';
  /** The target. Browsers do not reveal it. */
  readonly location: string | null;

  constructor(location: string | null, settlementId: string, paymentRequestId: string) {
    super('The vendor answered the paid request with a redirect.', settlementId, paymentRequestId);
    this.location = location;
  }
}
