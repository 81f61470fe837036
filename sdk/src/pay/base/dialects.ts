/**
 * How vendors that use Quittance request a payment and how it is presented. `outgoing-offers.ts`
 * has the forms of other vendors.
 */

/** A quote, as a vendor's 402 has it. */
export type AskedPayment = {
  quoteToken: string;
  /** A prepaid request runs again for the same unit, and its vendor stores no answer. */
  isRepeatable: boolean;
};

export type Settlement = { settlement_id: string; settlement_token: string };

type Dialect = {
  /**
   * Reads the JSON of a 402: a quote, a refused payment, or null for another protocol.
   */
  read: (body: unknown) => AskedPayment | 'refused' | null;
  /** The headers that present the payment. */
  headers: (settlement: Settlement) => Record<string, string>;
};

/**
 * docs/spec/interface.md, Vendor integration pattern with HTTP 402. Only the signed token of
 * the body counts. Amount, currency and expiry next to it are for display, and `settle_url` could
 * be any address.
 */
const quittance: Dialect = {
  read: (body) => {
    const { error, quote_token, repeatable } = (body ?? {}) as Record<string, unknown>;
    if (error === 'payment_failed') return 'refused';
    return error === 'payment_required' && typeof quote_token === 'string'
      ? { quoteToken: quote_token, isRepeatable: repeatable === true }
      : null;
  },
  headers: ({ settlement_id, settlement_token }) => ({
    'x-settlement-id': settlement_id,
    'x-settlement-token': settlement_token,
  }),
};

const DIALECTS: readonly Dialect[] = [quittance];

/** Identifies the logical request on every try: 1 to 128 characters of `[A-Za-z0-9._:-]`. */
export const REQUEST_ID_HEADER = 'x-payment-request-id';
/**
 * Names a quote that another buyer has paid. The vendor, who can verify that, answers with another
 * quote.
 */
export const REFUSED_HEADER = 'x-quote-refused';
/** Asks a vendor to end the tab that a request presents. The request is not served. */
export const CLOSE_TAB_HEADER = 'x-tab-close';
/**
 * Says that a request only tries the price. Its quote has `trial: true` in the scope, and does not
 * count in the vendor's conversion.
 */
export const TRIAL_HEADER = 'x-quote-trial';
/**
 * Asks a vendor what the request of `x-payment-request-id` has cost of the tab that is presented.
 * No request is served.
 */
export const USAGE_OF_HEADER = 'x-tab-usage';
/** The headers that this module sets. They are removed from the caller's request. */
export const PAYMENT_HEADERS = [
  REQUEST_ID_HEADER,
  'x-settlement-id',
  'x-settlement-token',
  REFUSED_HEADER,
  CLOSE_TAB_HEADER,
  USAGE_OF_HEADER,
  'payment-signature',
  'x-payment',
  'payment-authorization',
] as const;

/** The headers in which paywalls of every protocol answer. */
export const ANSWER_HEADERS = [
  'payment-required',
  'payment-response',
  'x-payment-response',
  'payment-receipt',
  'x-payment-replayed',
] as const;

const MAX_BILL_BYTES = 65_536;

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;
/** Not awaited, because with two branches of a body it would wait for the other. */
const cancel = (reader: BodyReader): void => {
  reader.cancel().catch(() => undefined);
};

/**
 * Reads a body of at most so many bytes. Null if there are more.
 * @param leave handles the rest of a longer body; by default it is cancelled
 */
export const readUpTo = async (
  body: Request | Response,
  maxBytes: number,
  leave: (reader: BodyReader) => void = cancel,
): Promise<Uint8Array<ArrayBuffer> | null> => {
  if (!body.body) {
    // In Firefox a request's body is no stream, so its size is known only afterwards.
    const bytes = new Uint8Array(await body.arrayBuffer());
    return bytes.length > maxBytes ? null : bytes;
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = body.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxBytes) {
      leave(reader);
      return null;
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

/**
 * The JSON of an answer, which stays readable for the caller. Null if it is no JSON or too long.
 */
export const jsonOf = async (response: Response): Promise<unknown> => {
  const bytes = await readUpTo(response.clone(), MAX_BILL_BYTES);
  try {
    return JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array()));
  } catch {
    return null;
  }
};

/** The quote of a 402. Null if no dialect recognises it. */
export const readBill = async (response: Response): Promise<ReturnType<Dialect['read']>> => {
  const body = await jsonOf(response);
  for (const dialect of DIALECTS) {
    const said = dialect.read(body);
    if (said !== null) return said;
  }
  return null;
};

const LONGEST_WAIT_MS = 10_000;

/**
 * How long a vendor asks to wait until another buyer's payment is decided. Null if it does not.
 */
export const readWait = async (response: Response): Promise<number | null> => {
  if (response.status !== 503) return null;
  const { error } = ((await jsonOf(response)) ?? {}) as { error?: unknown };
  if (error !== 'payment_in_progress') return null;
  const seconds = Number(response.headers.get('retry-after') ?? 1);
  return Math.min(LONGEST_WAIT_MS, Math.max(1, Number.isFinite(seconds) ? seconds : 1) * 1000);
};

/** The headers that present a payment. */
export const paymentHeaders = (settlement: Settlement): Record<string, string> =>
  quittance.headers(settlement);
