import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Admission,
  delivered,
  FAILED,
  headerOf,
  IN_PROGRESS,
  refuse,
} from '../../../sdk/src/paywall/adapter.ts';
import type { Incoming, Paywall, PaywallStore } from '../../../sdk/src/paywall/main.ts';
import { hasBody, unreadBody } from '../ground/request-body.ts';
import { faultOf, HEADER_FAULT, type RequestFault } from '../ground/request-fault.ts';
import type { Route, Router } from '../ground/routes.ts';
import type { Settings } from '../settings/settings.ts';
import type { CallRecord } from '../telemetry/call-log.ts';
import type { CallSpan } from '../telemetry/call-span.ts';
import { refuseRoute, refuseWith, sendAnswer } from './answers.ts';
import { addressOf, askFree, type FreeCalls, REMAINING_HEADER } from './free-calls.ts';
import { answered, type Delivery, identityOf, isPreflight, paidRecord } from './gate.ts';
import { hasUnremovable } from './headers.ts';
import { paymentHeaders } from './payment-headers.ts';

/**
 * The decision of a gate for a proxy that asks before it forwards: `auth_request` of nginx,
 * `forward_auth` of Caddy and Traefik, a script in HAProxy and Apache. The gate sees no answer of
 * the upstream, so a payment is redeemed before, and the same request may come once more.
 */

export type Decider = {
  settings: Settings;
  router: Router;
  paywall: Paywall;
  freeCalls: FreeCalls;
  store: PaywallStore;
};

/**
 * What a proxy asks about. It must set both headers itself. There is one pair only: with a second
 * one a caller could name another request than the proxy does.
 */
const METHOD = 'x-forwarded-method';
const TARGET = 'x-forwarded-uri';

/** As long as the records of the paywall. */
const WINDOW_MS = 600_000;

/**
 * Ends a delivery of which the gate sees nothing. The first one may be requested again, because the
 * upstream may have failed. So a payment buys two requests at most, whatever became of the first.
 * One that leaves no record could be requested without end, so it is used up.
 */
const end = async (store: PaywallStore, { payment, finish, isRepeatable }: Delivery): Promise<void> => {
  if (isRepeatable) return finish(delivered(null));
  const isFirst = await store.compareAndSet(`gate:run:${payment.deliveryId}`, null, '1', WINDOW_MS);
  await finish(isFirst ? FAILED : delivered(null));
};

type Question = { method: string; target: string; request: IncomingMessage };

const incomingOf = ({ method, target, request }: Question, proxies: number): Incoming => ({
  method,
  target,
  header: (name) => headerOf(request.headers, name),
  // The peer is the proxy.
  address: proxies === 0 ? null : addressOf(request, proxies),
  isBodyLast: hasBody(request),
  // Proxies ask without the body.
  body: async () => identityOf(request, unreadBody(request)),
});

/** Allows the request. The proxy copies these headers into it. */
const allow = (response: ServerResponse, headers: readonly string[]): void => {
  response.writeHead(200, ['Cache-Control', 'no-store', 'Content-Length', '0', ...headers]).end();
};

/**
 * Refuses it. nginx takes 401 only, and asks for the real answer afterwards (`/answer`).
 * @param as401 whether it has asked for that
 */
const send = async (response: ServerResponse, said: Response, as401: boolean): Promise<string | null> => {
  if (!as401) return sendAnswer(response, said);
  response.writeHead(401, ['Cache-Control', 'no-store', 'Content-Length', '0']).end();
  return null;
};

const decide = ({ paywall, settings }: Decider, question: Question, route: Route): Promise<Admission> =>
  paywall.admit(incomingOf(question, settings.proxies), question.request, route.paid!);

/** The headers for the request and for its answer. */
const allowedHeaders = (
  { settings }: Decider,
  { method, target }: Question,
  { payment, headers }: Delivery,
) => [
  ...paymentHeaders(payment, { method, target }, settings.upstreamSecret, Math.floor(Date.now() / 1000)),
  ...Object.entries(headers).flat(),
];

/** Why a request is refused whatever its route is. Its proxy passes on what the gate removes. */
const faultOfQuestion = ({ settings }: Decider, request: IncomingMessage): RequestFault | null =>
  hasUnremovable(request.rawHeaders) ? HEADER_FAULT : faultOf(request, settings.hosts);

/** Answers one question of a proxy: `/authorize`, `/authorize?refuse=401` or `/answer`. */
export const serveQuestion = async (
  decider: Decider,
  request: IncomingMessage,
  response: ServerResponse,
  { record, span }: { record: CallRecord; span: CallSpan },
): Promise<void> => {
  const [asked, query] = request.url!.split('?');
  const [method, target] = [headerOf(request.headers, METHOD), headerOf(request.headers, TARGET)];
  const isKnown = asked === '/authorize' || asked === '/answer';
  if (!isKnown || method === null || target === null || !target.startsWith('/') || target.includes('#')) {
    Object.assign(record, { outcome: 'refused', reason: 'question' });
    return refuseWith(response, isKnown ? 400 : 404, 'question');
  }
  const as401 = query === 'refuse=401';
  const [path] = target.split('?', 1) as [string];
  const wanted = { method, path, isPreflight: isPreflight(method, request) };
  const decided = faultOfQuestion(decider, request) ?? decider.router(wanted);
  // The gate does not see the answer, which could be what is for sale.
  const found = decided.kind === 'preflight' ? decided.otherwise : decided;
  record.route = found.route?.match ?? null;
  if (found.kind === 'refused') {
    Object.assign(record, { outcome: 'refused', reason: found.reason });
    return as401 ? void (await send(response, new Response(), true)) : refuseRoute(response, found);
  }
  const { route } = found;
  if (route?.paid == null) return allow(response, []);
  const question = { method, target, request };
  // The answer belongs to a request that was refused a moment ago.
  const isAnswer = asked === '/answer';
  const freeCall = isAnswer ? null : await askFree(decider.freeCalls, { ...question, route }, response);
  if (freeCall !== null) return allow(response, [REMAINING_HEADER, String(freeCall.remaining)]);
  const admission = await span.admit(() => decide(decider, question, route));
  if (admission.kind === 'answer') {
    const reason = await send(response, admission.response, as401 && !isAnswer);
    Object.assign(record, answered(admission.response, reason));
    return;
  }
  if (isAnswer) {
    // It was refused a moment ago, and now it is not. The buyer repeats the request.
    await admission.finish(FAILED);
    Object.assign(record, { outcome: 'refused', reason: await sendAnswer(response, refuse(IN_PROGRESS)) });
    return;
  }
  await end(decider.store, admission);
  Object.assign(record, paidRecord(admission));
  allow(response, allowedHeaders(decider, question, admission));
};
