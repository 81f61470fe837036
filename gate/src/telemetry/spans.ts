import type { IncomingMessage } from 'node:http';
import {
  type Context,
  context,
  DiagLogLevel,
  diag,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { envDetector, resourceFromAttributes, serviceInstanceIdDetector } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { Fetch } from '../../../sdk/src/main.ts';
import type { CallRecord, GateLog } from './call-log.ts';
import type { CallSpan, Tracing, UpstreamSpan } from './call-span.ts';

/** The spans of calls, by the semantic conventions of HTTP. They have no query and no header. */

const tracer = trace.getTracer('quittance-gate');
const FIRST_SERVER_ERROR = 500;

const fail = (span: Span, type: string): void => {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
};

/** Where a request goes. The path has no query. */
const clientAttributes = (method: string, origin: URL, path: string) => ({
  'http.request.method': method,
  'server.address': origin.hostname,
  'server.port': Number(origin.port || (origin.protocol === 'https:' ? 443 : 80)),
  'url.full': `${origin.origin}${path}`,
});

const OF_TRACE = new Set(['traceparent', 'tracestate']);

/** The headers of a request with the trace of a context, instead of the caller's. */
const withTrace = (headers: readonly string[], of: Context): string[] => {
  const passed: string[] = [];
  for (let at = 0; at < headers.length; at += 2)
    if (!OF_TRACE.has(headers[at]!.toLowerCase())) passed.push(headers[at]!, headers[at + 1]!);
  const carrier: Record<string, string> = {};
  propagation.inject(of, carrier);
  return passed.concat(Object.entries(carrier).flat());
};

const upstreamSpan = (
  parent: Context,
  { origin, method, path }: { origin: URL; method: string; path: string },
  headers: readonly string[],
): UpstreamSpan => {
  const attributes = clientAttributes(method, origin, path);
  const span = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, parent);
  return {
    headers: withTrace(headers, trace.setSpan(parent, span)),
    end: (status, fault) => {
      if (status !== null) span.setAttribute('http.response.status_code', status);
      if (fault !== null) fail(span, fault);
      else if (status !== null && status >= 400) fail(span, String(status));
      span.end();
    },
  };
};

/** Runs the admission of a call. */
const admitIn = async <T>(parent: Context, run: () => Promise<T>): Promise<T> => {
  const span = tracer.startSpan('admit', {}, parent);
  try {
    return await context.with(trace.setSpan(parent, span), run);
  } catch (error) {
    fail(span, (error as Error).name);
    throw error;
  } finally {
    span.end();
  }
};

const endCall = (span: Span, method: string, record: CallRecord): void => {
  const { route, status, outcome, reason, payment_id } = record;
  // `GET,POST /report` → `/report`.
  const pattern = route?.split(' ')[1];
  if (pattern !== undefined) {
    span.updateName(`${method} ${pattern}`);
    span.setAttribute('http.route', pattern);
  }
  span.setAttribute('quittance.outcome', outcome);
  if (payment_id !== null) span.setAttribute('quittance.settlement_id', payment_id);
  if (status !== null) span.setAttribute('http.response.status_code', status);
  if (status === null || status >= FIRST_SERVER_ERROR) fail(span, reason ?? String(status ?? 'unanswered'));
  span.end();
};

/** Begins the span of a call, which continues the trace of its caller. */
const beginCall = (request: IncomingMessage, path: string): CallSpan => {
  const method = request.method!;
  const outside = propagation.extract(ROOT_CONTEXT, request.headers);
  const attributes = { 'http.request.method': method, 'url.path': path, 'url.scheme': 'http' };
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, outside);
  const own = trace.setSpan(outside, span);
  const spanContext = span.spanContext();
  return {
    traceId: isSpanContextValid(spanContext) ? spanContext.traceId : null,
    admit: (run) => admitIn(own, run),
    upstream: (origin, asked, target, headers) =>
      upstreamSpan(own, { origin, method: asked, path: target }, headers),
    end: (record) => endCall(span, method, record),
  };
};

/** Calls of the API within an admission. */
const tracedFetch: Fetch = async (url, init) => {
  const parent = context.active();
  // Reports of use belong to no call.
  if (trace.getSpan(parent) === undefined) return globalThis.fetch(url, init);
  const at = new URL(url);
  const method = init?.method ?? 'GET';
  const attributes = clientAttributes(method, at, at.pathname);
  const span = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, parent);
  try {
    const carrier: Record<string, string> = {};
    propagation.inject(trace.setSpan(parent, span), carrier);
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(carrier)) headers.set(name, value);
    const answer = await globalThis.fetch(url, { ...init, headers });
    span.setAttribute('http.response.status_code', answer.status);
    if (answer.status >= 400) fail(span, String(answer.status));
    return answer;
  } catch (error) {
    fail(span, (error as Error).name);
    throw error;
  } finally {
    span.end();
  }
};

/** Starts the SDK, which reads the variables OTEL_*. */
export const startSpans = (service: string, log: GateLog): Tracing => {
  const say = (level: 'error' | 'warn') => (message: string) => log[level]({}, `traces: ${message}`);
  const silent = () => {};
  diag.setLogger(
    { error: say('error'), warn: say('warn'), info: silent, debug: silent, verbose: silent },
    DiagLogLevel.WARN,
  );
  const sdk = new NodeSDK({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'quittance' }),
    // Those of the process and the host would export command lines and user names.
    resourceDetectors: [envDetector, serviceInstanceIdDetector],
    textMapPropagator: new W3CTraceContextPropagator(),
    logRecordProcessors: [],
    metricReaders: [],
  });
  sdk.start();
  return { begin: beginCall, fetch: tracedFetch, stop: () => sdk.shutdown() };
};
