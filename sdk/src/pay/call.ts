import { bigintFault } from '../amounts.ts';
import { refuseFault } from '../options.ts';
import type { Fetch } from '../transport.ts';
import { PAYMENT_HEADERS, paymentHeaders, REFUSED_HEADER, REQUEST_ID_HEADER, readUpTo } from './dialects.ts';
import { BodyTooLargeError } from './errors.ts';
import type { Approve } from './price.ts';
import type { PaymentRecord } from './store.ts';

/** A request of the caller in a form that can be sent more than once. */
export type Call = {
  method: string;
  /** Without its fragment. */
  url: string;
  headers: Headers;
  body: Uint8Array<ArrayBuffer> | null;
  signal: AbortSignal | undefined;
  redirect: NonNullable<RequestInit['redirect']>;
  /** The maximum of a payment for this call, below that of all calls. */
  maxAmount: bigint | undefined;
  /** The final decision for this call. */
  approve: Approve | undefined;
  /** Further options of the platform's or the caller's own fetch. */
  more: RequestInit;
  /** A hash of method, address and body. Two calls with the same hash are the same request. */
  fingerprint: string;
};

/** The options of fetch, and those of this call alone. */
export type CallInit = RequestInit & {
  /** The maximum of a payment for this call, if it is below that of all calls. Micro-units. */
  maxAmount?: bigint;
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

const fingerprintOf = async (method: string, url: string, body: Uint8Array): Promise<string> => {
  const head = new TextEncoder().encode(`${method} ${url}\n`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  const hash = await crypto.subtle.digest('SHA-256', bytes);
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
};

/**
 * Reads the arguments of fetch, with the body in memory, because a paid request is sent again.
 * @throws BodyTooLargeError; TypeError if `maxAmount` is no bigint
 */
export const readCall = async (
  input: string | URL | Request,
  { maxAmount, approve, ...init }: CallInit,
  maxBodyBytes: number,
): Promise<Call> => {
  if (maxAmount !== undefined) refuseFault('maxAmount', bigintFault(maxAmount));
  const source = typeof input === 'object' && 'headers' in input ? input : null;
  // The platform determines the body's content type. It requires `duplex` for a stream.
  const request = new Request(input, { ...init, ...(init.body == null ? {} : { duplex: 'half' }) });
  const url = new URL(request.url);
  url.hash = '';
  const body = await readUpTo(request, maxBodyBytes);
  if (body === null)
    throw new BodyTooLargeError(`The body has more than ${maxBodyBytes} bytes, so it cannot be sent twice.`);
  const { body: _body, headers: _headers, method: _method, redirect, signal, ...rest } = init;
  const headers = new Headers(request.headers);
  for (const name of PAYMENT_HEADERS) headers.delete(name);
  return {
    method: request.method,
    url: url.href,
    headers,
    body: body.length === 0 ? null : body,
    signal: signal ?? source?.signal,
    redirect: redirect ?? source?.redirect ?? 'follow',
    maxAmount,
    approve,
    more: { ...(source === null ? {} : passedOn(source)), ...rest },
    fingerprint: await fingerprintOf(request.method, url.href, body),
  };
};

const send = (
  fetch: Fetch,
  call: Call,
  url: string,
  redirect: NonNullable<RequestInit['redirect']>,
  added: Record<string, string>,
): Promise<Response> => {
  const headers = new Headers(call.headers);
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  return fetch(url, {
    ...call.more,
    method: call.method,
    headers,
    redirect,
    ...(call.body === null ? {} : { body: call.body }),
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
};

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
 * without following redirects.
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
  if (settlement === null)
    return send(fetch, call, call.url, call.redirect, { [REQUEST_ID_HEADER]: id, ...named });
  const shown = { ...named, ...paymentHeaders(settlement) };
  return presentCall(fetch, call, { ...record, id: adopted?.requestId ?? id }, shown);
};
