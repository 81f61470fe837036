/**
 * The answers of the paywall itself. Each concerns one request of one buyer, so no cache may store
 * or share it.
 */

/**
 * Why a request gets no delivery. `reason` goes to the buyer and the log. It is a code, never a
 * credential.
 */
export type Refusal = {
  kind: 'refused';
  status: 400 | 402 | 413 | 503;
  error:
    | 'payment_required'
    | 'payment_failed'
    | 'payment_in_progress'
    | 'payload_too_large'
    | 'validation_error'
    | 'service_unavailable';
  reason: string;
  retryAfterSeconds?: number;
  /** The tab that is used up, if its ceiling can be extended. The answer offers that. */
  extendable?: ExtendableTab;
  /** The error behind it, for the log. The buyer does not get it. */
  cause?: unknown;
};

/** A tab whose buyer may extend its ceiling. */
export type ExtendableTab = {
  /** The quote of its authorization. */
  quoteId: string;
  ceiling: bigint;
  /** Captures it, because it cannot be extended. */
  end: () => void;
};

type Fields = Omit<Refusal, 'kind'>;
export const refusalWith = (fields: Fields): Refusal => ({ kind: 'refused', ...fields });

export const isRefusal = (found: object): found is Refusal => 'kind' in found && found.kind === 'refused';

/**
 * The payment is unchanged, but does not pay for this request. `reason` explains it.
 */
export const failed = (reason: string): Refusal =>
  refusalWith({ status: 402, error: 'payment_failed', reason });

/** Another request with this payment is being served. */
export const IN_PROGRESS = refusalWith({
  status: 503,
  error: 'payment_in_progress',
  reason: 'in_progress',
  retryAfterSeconds: 1,
});

type UsedUp =
  | 'settlement_exhausted'
  | 'settlement_expired'
  | 'authorization_used_up'
  | 'authorization_at_risk'
  | 'authorization_closed';

/** Nothing is left of a prepaid payment or an authorization. The answer offers another one. */
export const usedUp = (reason: UsedUp): Refusal =>
  refusalWith({ status: 402, error: 'payment_required', reason });
export const isUsedUp = ({ error }: Refusal): boolean => error === 'payment_required';

/** A temporary failure. The same request with the same payment still gets its delivery. */
export const unavailable = (reason: string, retryAfterMs: number | null = null): Refusal =>
  refusalWith({
    status: 503,
    error: 'service_unavailable',
    reason,
    retryAfterSeconds: Math.max(1, Math.ceil((retryAfterMs ?? 5000) / 1000)),
  });

/** Pages of other origins read the content type anyway. */
const isHidden = (name: string): boolean => name !== 'content-type';

/**
 * An answer of the paywall: JSON, without caching, readable by pages of other origins if the vendor
 * allows it.
 */
export const answer = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'access-control-expose-headers': ['retry-after', ...Object.keys(headers).filter(isHidden)].join(', '),
      ...headers,
    },
  });

export const refuse = ({ status, error, reason, retryAfterSeconds }: Refusal): Response =>
  answer(
    status,
    { error, details: { reason } },
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );

/** A stored delivery. `body` is base64. */
export type StoredAnswer = {
  status: number;
  headers: [string, string][];
  body: string;
  /** The headers of the request that it depends on. It answers no request with others. */
  varied?: [string, string | null][];
};

/** The headers of a request that an answer names in `Vary`. */
const variedBy = (headers: readonly [string, string][], header: (name: string) => string | null) =>
  headers
    .filter(([name]) => name.toLowerCase() === 'vary')
    .flatMap(([, names]) => names.toLowerCase().split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== '*')
    .map((name): [string, string | null] => [name, header(name)]);

/** A stored delivery with what it depends on. */
export const withVaried = (answer: StoredAnswer, header: (name: string) => string | null): StoredAnswer => {
  const varied = variedBy(answer.headers, header);
  return varied.length === 0 ? answer : { ...answer, varied };
};
/** True if a stored delivery is the answer to a request with these headers. */
export const fits = ({ varied = [] }: StoredAnswer, header: (name: string) => string | null): boolean =>
  varied.every(([name, value]) => header(name) === value);

/** Headers of one connection or time, which do not belong to a repeated answer. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'trailer',
  'upgrade',
]);

export const store = (
  status: number,
  headers: Iterable<[string, string]>,
  chunks: Uint8Array[],
): StoredAnswer => {
  let binary = '';
  // In pieces, because the number of arguments of a call is limited.
  for (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += 8192)
      binary += String.fromCharCode(...chunk.subarray(at, at + 8192));
  const stored = [...headers].filter(([name]) => !CONNECTION_HEADERS.has(name.toLowerCase()));
  return { status, headers: stored, body: btoa(binary) };
};

/** Statuses with which a Response cannot have a body. */
const BODILESS = new Set([204, 205, 304]);

export const restore = ({ status, headers, body }: StoredAnswer): Response => {
  const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
  const response = new Response(BODILESS.has(status) ? null : bytes, { status, headers });
  response.headers.set('x-payment-replayed', 'true');
  return response;
};

/**
 * After these statuses the same request may still get its delivery, with other headers or later.
 */
const NOT_YET = new Set([401, 403, 408, 425, 429]);

/**
 * True if the buyer has the delivery. After a failure of the vendor the same payment can be used
 * again. Any other answer is the delivery, also a 404, so a vendor refuses known failures before
 * the paywall. The paying fetch uses the same rule.
 */
export const isDelivered = (status: number): boolean => status < 500 && !NOT_YET.has(status);
