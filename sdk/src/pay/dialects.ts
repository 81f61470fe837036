/**
 * How vendors ask for money and are shown the payment. Other protocols (x402, MPP) become further
 * entries of `DIALECTS`.
 */

export type Settlement = { settlement_id: string; settlement_token: string };

export type Dialect = {
  /**
   * What the JSON of a 402 says: a bill, that the payment shown is not accepted, or null: another
   * language.
   */
  read: (body: unknown) => { quoteToken: string } | 'refused' | null;
  /** How the payment is shown. */
  headers: (settlement: Settlement) => Record<string, string>;
};

/**
 * docs/spec/interface.md, Vendor integration pattern with HTTP 402. Of the body nothing but the
 * signed token counts: amount, currency and expiry beside it are for display, and `settle_url`
 * could lead anywhere.
 */
const quittance: Dialect = {
  read: (body) => {
    const { error, quote_token } = (body ?? {}) as { error?: unknown; quote_token?: unknown };
    if (error === 'payment_failed') return 'refused';
    return error === 'payment_required' && typeof quote_token === 'string'
      ? { quoteToken: quote_token }
      : null;
  },
  headers: ({ settlement_id, settlement_token }) => ({
    'x-settlement-id': settlement_id,
    'x-settlement-token': settlement_token,
  }),
};

const DIALECTS: readonly Dialect[] = [quittance];

/** Names the logical request on every try of it: 1 to 128 characters of `[A-Za-z0-9._:-]`. */
export const REQUEST_ID_HEADER = 'x-payment-request-id';
/**
 * Names a quote that another buyer has paid: the vendor, who can look it up, answers with another
 * one.
 */
export const REFUSED_HEADER = 'x-quote-refused';
/** What this module sends, so that nothing of it comes from the caller. */
export const PAYMENT_HEADERS = [
  REQUEST_ID_HEADER,
  'x-settlement-id',
  'x-settlement-token',
  REFUSED_HEADER,
] as const;

const MAX_BILL_BYTES = 65_536;

/** At most so many bytes of a body: null when there are more. */
export const readUpTo = async (
  body: Request | Response,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> => {
  if (!body.body) {
    // Where a request's body is no stream (Firefox) it can be measured only afterwards.
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
      // Not awaited: of two branches of a body it would wait for the other.
      reader.cancel().catch(() => undefined);
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

/** The JSON of an answer that stays readable for the caller; null when it is none or too long. */
const jsonOf = async (response: Response): Promise<unknown> => {
  const bytes = await readUpTo(response.clone(), MAX_BILL_BYTES);
  try {
    return JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array()));
  } catch {
    return null;
  }
};

/** The bill in a 402; null when no dialect understands it. */
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
 * How long a vendor asks to wait for a payment of another buyer to be decided; null: it does not.
 */
export const readWait = async (response: Response): Promise<number | null> => {
  if (response.status !== 503) return null;
  const { error } = ((await jsonOf(response)) ?? {}) as { error?: unknown };
  if (error !== 'payment_in_progress') return null;
  const seconds = Number(response.headers.get('retry-after') ?? 1);
  return Math.min(LONGEST_WAIT_MS, Math.max(1, Number.isFinite(seconds) ? seconds : 1) * 1000);
};

/** The headers that show a payment. */
export const paymentHeaders = (settlement: Settlement): Record<string, string> =>
  quittance.headers(settlement);
