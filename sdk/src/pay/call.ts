import type { Fetch } from '../transport.ts';
import { PAYMENT_HEADERS, paymentHeaders, REFUSED_HEADER, REQUEST_ID_HEADER, readUpTo } from './dialects.ts';
import { BodyTooLargeError } from './errors.ts';
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
  /** What the platform's or the caller's own fetch knows besides. */
  more: RequestInit;
  /** Method, address and body as a hash: what makes two calls the same request. */
  fingerprint: string;
};

/** What a Request carries besides what `Call` names. */
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
 * The arguments of fetch, its body read into memory: what is asked for money has to be sent again.
 * @throws BodyTooLargeError
 */
export const readCall = async (
  input: string | URL | Request,
  init: RequestInit,
  maxBodyBytes: number,
): Promise<Call> => {
  const source = typeof input === 'object' && 'headers' in input ? input : null;
  // The platform knows best what a body is and which content type it gets; it asks for `duplex`
  // where one is a stream.
  const request = new Request(input, { ...init, ...(init.body == null ? {} : { duplex: 'half' }) });
  const url = new URL(request.url);
  url.hash = '';
  const body = await readUpTo(request, maxBodyBytes);
  if (body === null)
    throw new BodyTooLargeError(`a body of more than ${maxBodyBytes} bytes is not sent twice`);
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
    more: { ...(source === null ? {} : passedOn(source)), ...rest },
    fingerprint: await fingerprintOf(request.method, url.href, body),
  };
};

/**
 * Sends a call, with its payment where the record has one: then only to the address that was paid,
 * wherever it redirects.
 * @param refused the id of a quote that another buyer has paid
 */
export const sendCall = (
  fetch: Fetch,
  call: Call,
  { id, url, settlement, adopted }: PaymentRecord,
  refused?: string,
): Promise<Response> => {
  const headers = new Headers(call.headers);
  headers.set(REQUEST_ID_HEADER, settlement === null ? id : (adopted?.requestId ?? id));
  if (refused !== undefined) headers.set(REFUSED_HEADER, refused);
  const shown = settlement === null ? {} : paymentHeaders(settlement);
  for (const [name, value] of Object.entries(shown)) headers.set(name, value);
  return fetch(settlement === null ? call.url : url, {
    ...call.more,
    method: call.method,
    headers,
    redirect: settlement === null ? call.redirect : 'manual',
    ...(call.body === null ? {} : { body: call.body }),
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
};
