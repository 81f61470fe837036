import { base64Url, jsonBase64Url, objectOfBase64, utf8 } from './checks/encoding.ts';

/**
 * What a paywall and the payment page of the API say to each other by addresses (docs/adr/0074).
 * The order is in a fragment, which browsers send to no server.
 */

/** The parameter with which the payment page returns. It never reaches a handler. */
export const RETURN_PARAMETER = 'quittance_payment';

export type PageOrder = {
  /** The signed quote. It names the resource, so it also says where the page may return. */
  quote: string;
  /** The address that was opened, with its query. */
  back: string;
  /** What a wallet may pay instead: `accepts[0]` of x402. */
  offer?: unknown;
  /** Why the last payment was refused, a code. */
  reason?: string;
};

/** The address of the payment page for an order. */
export const paymentPageOf = (baseUrl: string, order: PageOrder): string =>
  `${baseUrl}/pay#${jsonBase64Url(order)}`;

/** The order in the fragment of the page's address. Null: there is none. */
export const readPageOrder = (fragment: string): PageOrder | null => {
  const { quote, back, offer, reason } = objectOfBase64(fragment.replace(/^#/, '')) ?? {};
  if (typeof quote !== 'string' || typeof back !== 'string') return null;
  return {
    quote,
    back,
    ...(offer !== undefined && { offer }),
    ...(typeof reason === 'string' && { reason }),
  };
};

/** How a payment returns: a settlement, a signed payload of x402, or a quote that others paid. */
type ReturnedPayment =
  | { settlement_id: string; settlement_token: string }
  | { payload: object }
  | { refusedQuote: string };

const textOf = (payment: ReturnedPayment): string => {
  if ('payload' in payment) return `x~${base64Url(utf8(JSON.stringify(payment.payload)))}`;
  if ('refusedQuote' in payment) return `q~${payment.refusedQuote}`;
  return `s~${payment.settlement_id}~${payment.settlement_token}`;
};

/** The address with a payment, for the browser alone: the paywall removes it at once. */
export const addressWith = (back: string, payment: ReturnedPayment): string =>
  `${back}${back.includes('?') ? '&' : '?'}${RETURN_PARAMETER}=${textOf(payment)}`;
