import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Admission, delivered, headerOf, unavailable } from '../../../sdk/src/paywall/adapter.ts';
import type { Incoming, Paywall } from '../../../sdk/src/paywall/main.ts';
import {
  endSlowBody,
  type HeldBytes,
  hasBody,
  NoRoomError,
  type RequestBody,
  readBeginning,
  unreadBody,
} from '../ground/request-body.ts';
import { faultOf, hostOf } from '../ground/request-fault.ts';
import type { Route, Router } from '../ground/routes.ts';
import type { Settings } from '../settings/settings.ts';
import type { CallRecord } from '../telemetry/call-log.ts';
import type { CallSpan } from '../telemetry/call-span.ts';
import { refuseRoute, sendAnswer } from './answers.ts';
import { type Cuts, forward } from './forward.ts';
import { addressOf, askFree, type FreeCall, type FreeCalls } from './free-calls.ts';
import { requestHeaders } from './headers.ts';
import { paymentHeaders } from './payment-headers.ts';
import { SWITCH, type Switching } from './upgrade.ts';
import type { Upstream } from './upstream.ts';

/** What decides about requests. A reload replaces it as a whole. */
export type Gate = {
  settings: Settings;
  router: Router;
  paywall: Paywall;
  freeCalls: FreeCalls;
  upstream: Upstream;
  held: HeldBytes;
};
export type Delivery = Extract<Admission, { kind: 'deliver' }>;

/** A target without scheme and host, which a proxy must accept (RFC 9112, 3.2.2). */
const originForm = (url: string): string => {
  if (url.startsWith('/') || url === '*') return url;
  const rest = url.replace(/^https?:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
};

/** Path and query of a request. Null: servers disagree about where its path ends. */
export const targetOf = ({ url }: IncomingMessage): { target: string; path: string } | null => {
  const target = originForm(url!);
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  return target.includes('#') ? null : { target, path };
};

/** Path and query, and the route. */
type Found = { target: string; path: string; route: Route | null; isPreflight: boolean };

/** What identifies a paid request besides method, target and headers: what was read of its body. */
export const identityOf = ({ headers }: IncomingMessage, { beginning, rest }: RequestBody): Uint8Array =>
  rest === null
    ? beginning
    : Buffer.concat([Buffer.from(`length: ${headers['content-length'] ?? 'unknown'}\n`), beginning]);

/**
 * The answer to a body that was not read to its end is not stored: the body of a repeat may have
 * another end.
 */
const unlessStreamed = (admission: Admission, { rest }: RequestBody): Admission => {
  if (admission.kind === 'answer' || rest === null) return admission;
  const { finish } = admission;
  return { ...admission, finish: (end) => finish(end.kind === 'delivered' ? delivered(null) : end) };
};

/** When there may be room for a body again. */
const NO_ROOM_MS = 5000;

/**
 * Asks the paywall about a request of a priced route.
 * @returns its decision, and the body as far as it was read
 */
const admit = async (
  { paywall, upstream, settings }: Gate,
  { target, route }: Found,
  request: IncomingMessage,
  readBody: (limit: number) => Promise<RequestBody>,
): Promise<{ admission: Admission; body: RequestBody }> => {
  let body = unreadBody(request);
  const incoming: Incoming = {
    method: request.method!,
    target,
    header: (name) => headerOf(request.headers, name),
    address: addressOf(request, settings.proxies),
    // Nobody uploads a body to learn its price, or for a payment that does not pay.
    isBodyLast: hasBody(request),
    body: async () => {
      try {
        body = await readBody(settings.hashBytes);
      } catch (error) {
        if (error instanceof NoRoomError) return unavailable('bodies', NO_ROOM_MS);
        throw error;
      }
      return identityOf(request, body);
    },
    ready: async () => ((await upstream.isAlive()) ? null : unavailable('upstream_unreachable')),
  };
  const admission = await paywall.admit(incoming, request, route!.paid!);
  return { admission: unlessStreamed(admission, body), body };
};

/** The address of the caller, as the upstream gets it. */
const forwardedHeaders = ({ headers, socket }: IncomingMessage, host: string, proxies: number): string[] => {
  const before = (name: string) => (proxies > 0 ? headerOf(headers, name) : null);
  const chain = before('x-forwarded-for');
  const peer = socket.remoteAddress ?? 'unknown';
  return [
    'X-Forwarded-For',
    chain === null ? peer : `${chain}, ${peer}`,
    'X-Forwarded-Proto',
    before('x-forwarded-proto') ?? 'http',
    'X-Forwarded-Host',
    before('x-forwarded-host') ?? host,
  ];
};

/** The headers that the upstream gets, with those of the gate. */
const upstreamHeaders = (
  { settings }: Gate,
  request: IncomingMessage,
  target: string,
  delivery: Delivery | null,
): string[] => {
  const host = hostOf(request, settings.hosts) as string;
  const headers = requestHeaders(request.rawHeaders, host);
  headers.push(...forwardedHeaders(request, host, settings.proxies));
  if (delivery === null) return headers;
  const now = Math.floor(Date.now() / 1000);
  const about = { method: request.method!, target };
  return [...headers, ...paymentHeaders(delivery.payment, about, settings.upstreamSecret, now)];
};

/** Methods whose requests have no body, unless they say so. */
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE', 'TRACE']);

/** The framing of a body is the gate's own: one length, or chunks, as the parser has read it. */
const framing = ({ method, headers }: IncomingMessage): string[] => {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked'];
  const length = headers['content-length'] ?? (BODILESS.has(method!) ? undefined : '0');
  return length === undefined ? [] : ['Content-Length', length];
};

const outcomeOf = ({ status, headers }: Response, reason: string | null): CallRecord['outcome'] => {
  if (headers.has('x-payment-replayed')) return 'replayed';
  switch (status) {
    case 402:
      return reason === null ? 'quoted' : 'refused';
    case 202:
      return 'closed';
    // What a call of a tab has cost, for its buyer.
    case 200:
      return 'free';
    default:
      return 'refused';
  }
};

/** The record of a decision of the paywall that is an answer. */
export const answered = (said: Response, reason: string | null): Partial<CallRecord> => ({
  outcome: outcomeOf(said, reason),
  reason,
});

export const paidRecord = ({ payment }: Delivery): Partial<CallRecord> => ({
  outcome: 'paid',
  payment_id: payment.paymentId,
  amount: payment.amount,
});

export const newRecord = (): CallRecord => ({
  route: null,
  outcome: 'free',
  status: null,
  upstream_status: null,
  bytes: 0,
  reason: null,
  payment_id: null,
  amount: null,
});

/** A preflight of CORS, with which a browser asks before it sends another request. */
export const isPreflight = (method: string, { headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;

/**
 * Finds the route of a request, and refuses one that may not pass.
 * @returns null if the request was refused
 */
const find = (
  gate: Gate,
  request: IncomingMessage,
  response: ServerResponse,
  record: CallRecord,
): Found | null => {
  const method = request.method!;
  const at = targetOf(request);
  const wanted = { method, path: at?.path ?? '', isPreflight: isPreflight(method, request) };
  const found = faultOf(request, gate.settings.hosts) ?? gate.router(wanted);
  record.route = found.route?.match ?? null;
  if (found.kind !== 'refused')
    return { ...at!, route: found.route, isPreflight: found.kind === 'preflight' };
  Object.assign(record, { outcome: 'refused', reason: found.reason });
  refuseRoute(response, found);
  return null;
};

type Call = {
  request: IncomingMessage;
  response: ServerResponse;
  record: CallRecord;
  span: CallSpan;
};
type Admitted = { delivery: Delivery | null; freeCall: FreeCall | null; body: RequestBody };

/**
 * Decides about a request of a priced route: a free call of its caller, or what the paywall says.
 * @returns null if the paywall has answered
 */
const pass = async (
  gate: Gate,
  found: Found,
  { request, response, record, span }: Call,
  readBody: (limit: number) => Promise<RequestBody>,
): Promise<Admitted | null> => {
  const { target, route } = found;
  if (route?.paid == null) return { delivery: null, freeCall: null, body: unreadBody(request) };
  const call = { route, target, method: request.method!, request };
  const freeCall = await askFree(gate.freeCalls, call, response);
  if (freeCall !== null) return { delivery: null, freeCall, body: unreadBody(request) };
  const { admission, body } = await span.admit(() => admit(gate, found, request, readBody));
  if (admission.kind === 'answer') {
    const reason = await sendAnswer(response, admission.response);
    Object.assign(record, answered(admission.response, reason));
    return null;
  }
  Object.assign(record, paidRecord(admission));
  return { delivery: admission, freeCall: null, body };
};

/**
 * Serves one request: an answer of the paywall, or one of the upstream.
 * @param switching the connection of a handshake, null for any other request
 */
export const serve = async (
  gate: Gate,
  request: IncomingMessage,
  response: ServerResponse,
  {
    record,
    cuts,
    span,
    switching,
  }: { record: CallRecord; cuts: Cuts; span: CallSpan; switching: Switching | null },
): Promise<void> => {
  const { settings, upstream } = gate;
  const found = find(gate, request, response, record);
  if (found === null) return;
  endSlowBody(request, response, settings.timeouts.bodyMs);
  const passed = await pass(gate, found, { request, response, record, span }, (limit) =>
    readBeginning(request, response, limit, gate.held),
  );
  if (passed === null) return;
  const { delivery, freeCall, body } = passed;
  // The upload begins here, unless its beginning was read before.
  if (request.headers.expect !== undefined && body.beginning.length === 0 && body.rest !== null)
    response.writeContinue();
  const { headers, end } = span.upstream(settings.upstream!, request.method!, found.path, [
    ...upstreamHeaders(gate, request, found.target, delivery),
    ...(switching === null ? framing(request) : SWITCH),
  ]);
  const answerPrice = found.route?.answerPrice ?? null;
  const call = {
    request,
    response,
    target: found.target,
    headers,
    body,
    delivery,
    freeCall,
    answerPrice,
    switching,
    isPreflight: found.isPreflight,
  };
  const { timeouts, storedBytes, readsBodies } = settings;
  const forwarding = { cuts, upstream, timeouts, storedBytes, readsBodies };
  const ended = await forward(forwarding, call);
  end(ended.upstreamStatus, ended.fault);
  Object.assign(record, { upstream_status: ended.upstreamStatus, bytes: ended.bytes, reason: ended.fault });
  if (delivery?.metering == null) return;
  if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
  record.amount = String(delivery.metering.meter.charged);
};
