import { type Amount, microOf } from '../../amounts.ts';
import { decidingHeaders, identityOf } from '../../checks/request-identity.ts';
import type { Fetch } from '../../transport.ts';
import { type CallBody, NO_BODY, readBody } from './body.ts';
import {
  PAYMENT_HEADERS,
  paymentHeaders,
  REFUSED_HEADER,
  REQUEST_ID_HEADER,
  USAGE_OF_HEADER,
} from './dialects.ts';
import type { Approve } from './price.ts';
import type { PaymentRecord } from './store.ts';

/** A request of the caller in a form that can be sent more than once. */
export type Call = {
  method: string;
  /** Without its fragment. */
  url: string;
  headers: Headers;
  body: CallBody;
  signal: AbortSignal | undefined;
  redirect: NonNullable<RequestInit['redirect']>;
  /** The maximum of a payment for this call, below that of all calls. */
  maxAmount: bigint | undefined;
  /** The final decision for this call. */
  approve: Approve | undefined;
  /** Further options of the platform's or the caller's own fetch. */
  more: RequestInit;
  /**
   * Method, address, and the headers that decide the answer, or a hash of them and the body. Two
   * calls with the same fingerprint are the same request.
   */
  fingerprint: string;
};

/** The options of fetch, and those of this call alone. */
export type CallInit = RequestInit & {
  /** The maximum of a payment for this call, if it is below that of all calls. */
  maxAmount?: Amount;
  /** The final decision for this call, instead of the one for all calls. */
  approve?: Approve;
};

/** The properties of a Request that `Call` does not name. */
const PASSED_ON = [
  'cache',
  'credentials',
  'integrity',
  'keepalive',
  'mode',
  'referrer',
  'referrerPolicy',
] as const;

const passedOn = (request: Request): RequestInit =>
  Object.fromEntries(
    PASSED_ON.map((name) => [name, request[name]] as const).filter(([, value]) => value !== undefined),
  );

/** Null: `Request` reads it. It resolves relative addresses of pages and refuses invalid ones. */
const plainUrlOf = (input: string | URL | Request, { method, body }: RequestInit): string | null => {
  if (method !== undefined || body != null || (typeof input === 'object' && 'headers' in input)) return null;
  if (!URL.canParse(String(input))) return null;
  const { href, username, password } = new URL(input);
  return username === '' && password === '' ? href : null;
};

/**
 * The parts of the arguments of fetch that `Request` determines. Most calls are a GET of an
 * address, for which it is not needed. It takes as long as everything else here.
 * @throws TypeError of the platform if the arguments are invalid
 */
const partsOf = async (input: string | URL | Request, init: RequestInit, maxBodyBytes: number) => {
  const plainUrl = plainUrlOf(input, init);
  if (plainUrl !== null)
    return { method: 'GET', url: plainUrl, headers: new Headers(init.headers), body: NO_BODY };
  // The platform determines the body's content type. It requires `duplex` for a stream.
  const request = new Request(input, { ...init, ...(init.body == null ? {} : { duplex: 'half' }) });
  const headers = new Headers(request.headers);
  return {
    method: request.method,
    url: request.url,
    headers,
    body: await readBody(request, init.body, maxBodyBytes),
  };
};

/** Two calls whose bodies are above the limit are not compared. */
const fingerprintOf = (text: string, { bytes }: CallBody): Promise<string> =>
  bytes === null ? Promise.resolve(crypto.randomUUID()) : identityOf(text, bytes);

/**
 * Reads the arguments of fetch, with the body in memory, because a paid request is sent again.
 * @throws TypeError of the platform if they are invalid
 */
export const readCall = async (
  input: string | URL | Request,
  { maxAmount, approve, ...init }: CallInit,
  maxBodyBytes: number,
): Promise<Call> => {
  const source = typeof input === 'object' && 'headers' in input ? input : null;
  const { method, url: address, headers, body } = await partsOf(input, init, maxBodyBytes);
  const [url] = address.split('#', 1) as [string];
  const { body: _body, headers: _headers, method: _method, redirect, signal, ...rest } = init;
  for (const name of PAYMENT_HEADERS) headers.delete(name);
  const deciding = decidingHeaders((name) => headers.get(name), body.bytes?.length !== 0);
  return {
    method,
    url,
    headers,
    body,
    // Null removes the signal of a Request.
    signal: (signal === undefined ? source?.signal : signal) ?? undefined,
    redirect: redirect ?? source?.redirect ?? 'follow',
    maxAmount: maxAmount === undefined ? undefined : microOf(maxAmount),
    approve,
    more: { ...(source === null ? {} : passedOn(source)), ...rest },
    fingerprint: await fingerprintOf(`${method} ${url}${deciding === null ? '' : ` ${deciding}`}`, body),
  };
};

const send = (
  fetch: Fetch,
  call: Call,
  url: string,
  redirect: NonNullable<RequestInit['redirect']>,
  added: Record<string, string>,
): Promise<Response> =>
  fetch(url, {
    ...call.more,
    method: call.method,
    // Fetch reads an object faster than Headers. A call has none of the added names.
    headers: { ...Object.fromEntries(call.headers), ...added },
    redirect,
    ...call.body.next(),
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });

/**
 * Sends a call with these headers of a payment, only to the paid address and without following
 * redirects.
 */
export const presentCall = (
  fetch: Fetch,
  call: Call,
  { id, url }: PaymentRecord,
  shown: Record<string, string>,
): Promise<Response> => send(fetch, call, url, 'manual', { [REQUEST_ID_HEADER]: id, ...shown });

/**
 * Sends a call. If the record has a payment, it is sent with the call, only to the paid address and
 * without following redirects. Before a 402 it has no header of its own, so that it is the caller's
 * request: a page's request to an API that knows nothing of payments must pass its CORS.
 * @param refused the id of a quote that another buyer has paid
 */
export const sendCall = (
  fetch: Fetch,
  call: Call,
  record: PaymentRecord,
  refused?: string,
): Promise<Response> => {
  const { id, settlement, adopted } = record;
  const named = refused === undefined ? {} : { [REFUSED_HEADER]: refused };
  if (settlement === null) {
    const own = refused === undefined ? {} : { [REQUEST_ID_HEADER]: id, ...named };
    return send(fetch, call, call.url, call.redirect, own);
  }
  const shown = { ...named, ...paymentHeaders(settlement) };
  return presentCall(fetch, call, { ...record, id: adopted?.requestId ?? id }, shown);
};

/** Asks the vendor what a call has cost that has paid by a tab. The call itself is not repeated. */
export const askUsage = (fetch: Fetch, call: Call, record: PaymentRecord): Promise<Response> =>
  fetch(record.url, {
    method: call.method,
    headers: {
      ...paymentHeaders(record.settlement!),
      [REQUEST_ID_HEADER]: record.adopted?.requestId ?? record.id,
      [USAGE_OF_HEADER]: 'true',
    },
    redirect: 'manual',
  });

/** Whether this is a page's request to another origin, for which the browser asks the vendor. */
export const isCrossOrigin = ({ url }: Pick<Call, 'url'>): boolean => {
  const { location } = globalThis as { location?: { origin?: string } };
  return typeof location?.origin === 'string' && location.origin !== new URL(url).origin;
};

/**
 * Tells whether a page may send the headers of a payment to the vendor, by sending them empty. A
 * browser would keep a payment that was made from being presented.
 * @throws what fetch throws if the vendor's CORS does not allow them
 */
export const tryHeaders = async (fetch: Fetch, call: Call, record: PaymentRecord): Promise<void> => {
  if (!isCrossOrigin(call)) return;
  const empty = paymentHeaders({ settlement_id: '', settlement_token: '' });
  const response = await send(fetch, call, call.url, call.redirect, {
    [REQUEST_ID_HEADER]: record.id,
    ...empty,
  });
  response.body?.cancel().catch(() => undefined);
};
