import { bigintFault } from '../amounts.ts';
import { refuseFault } from '../options.ts';
import { identityOf } from '../request-identity.ts';
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
  /**
   * Method and address, or a hash of them and the body. Two calls with the same fingerprint are the
   * same request.
   */
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
 * @throws BodyTooLargeError
 */
const partsOf = async (input: string | URL | Request, init: RequestInit, maxBodyBytes: number) => {
  const plainUrl = plainUrlOf(input, init);
  if (plainUrl !== null)
    return { method: 'GET', url: plainUrl, headers: new Headers(init.headers), body: new Uint8Array() };
  // The platform determines the body's content type. It requires `duplex` for a stream.
  const request = new Request(input, { ...init, ...(init.body == null ? {} : { duplex: 'half' }) });
  const body = await readUpTo(request, maxBodyBytes);
  if (body === null)
    throw new BodyTooLargeError(`The body has more than ${maxBodyBytes} bytes, so it cannot be sent twice.`);
  return { method: request.method, url: request.url, headers: new Headers(request.headers), body };
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
  const { method, url: address, headers, body } = await partsOf(input, init, maxBodyBytes);
  const [url] = address.split('#', 1) as [string];
  const { body: _body, headers: _headers, method: _method, redirect, signal, ...rest } = init;
  for (const name of PAYMENT_HEADERS) headers.delete(name);
  return {
    method,
    url,
    headers,
    body: body.length === 0 ? null : body,
    signal: signal ?? source?.signal,
    redirect: redirect ?? source?.redirect ?? 'follow',
    maxAmount,
    approve,
    more: { ...(source === null ? {} : passedOn(source)), ...rest },
    fingerprint: await identityOf(`${method} ${url}`, body),
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
    ...(call.body === null ? {} : { body: call.body }),
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
