/** What the paywall itself answers. Every one of them is about one request of one buyer: nothing may keep or share it. */

/** Why a request gets no delivery. `reason` goes to the buyer and the log: a word, never a credential. */
export type Refusal = {
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
};

/** The payment stays what it is and can be used for another try, or is of no use for this: `reason` says which. */
export const failed = (reason: string): Refusal => ({ status: 402, error: 'payment_failed', reason });

/** Nothing was taken that the same request, sent again with the same payment, does not get. */
export const unavailable = (reason: string, retryAfterMs: number | null = null): Refusal => ({
  status: 503,
  error: 'service_unavailable',
  reason,
  retryAfterSeconds: Math.max(1, Math.ceil((retryAfterMs ?? 5000) / 1000)),
});

/** An answer of the paywall: JSON, stored by no cache, readable by a page of another origin where the vendor allows that. */
export const answer = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'access-control-expose-headers': ['retry-after', ...Object.keys(headers)].join(', '),
      ...headers,
    },
  });

export const refuse = ({ status, error, reason, retryAfterSeconds }: Refusal): Response =>
  answer(
    status,
    { error, details: { reason } },
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );

/** A delivery as it is stored to be given again; `body` is base64. */
export type StoredAnswer = { status: number; headers: [string, string][]; body: string };

/** What belongs to one connection or one moment, so not to a second sending. */
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
  // In pieces: a call takes only so many arguments.
  for (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += 8192)
      binary += String.fromCharCode(...chunk.subarray(at, at + 8192));
  const stored = [...headers].filter(([name]) => !CONNECTION_HEADERS.has(name.toLowerCase()));
  return { status, headers: stored, body: btoa(binary) };
};

/** Statuses that a Response refuses to have a body with. */
const BODILESS = new Set([204, 205, 304]);

export const restore = ({ status, headers, body }: StoredAnswer): Response => {
  const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
  const response = new Response(BODILESS.has(status) ? null : bytes, { status, headers });
  response.headers.set('x-payment-replayed', 'true');
  return response;
};

/** "Say who you are" and "try later": the same request, with other headers or in a moment, may still get its delivery. */
const NOT_YET = new Set([401, 403, 408, 425, 429]);

/**
 * Whether the buyer has what was paid for. A failure of the vendor is asked again with the same payment; any other answer is
 * the answer, also "no such thing": what can be known before is to be refused before the paywall. The paying fetch judges alike.
 */
export const isDelivered = (status: number): boolean => status < 500 && !NOT_YET.has(status);
