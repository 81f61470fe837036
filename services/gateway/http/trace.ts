import {
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isTracing, recordIds, traceIdOf, untraced } from '../../../shared/lib/telemetry/trace.ts';

const tracer = trace.getTracer('quittance');

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | null;
    /** The trace of the call, also after its span has ended. */
    traceId: string | undefined;
  }
}

/**
 * Starts a new trace that is linked to the traceparent of the caller, because a caller must not
 * control sampling. The traceparent of a trusted proxy that begins the traces itself is adopted.
 * Baggage is dropped: the work of a call runs in the root context with this span alone.
 */
const beginSpan = (request: FastifyRequest, adopts: boolean): Span => {
  const outside = propagation.extract(ROOT_CONTEXT, request.headers);
  const remote = trace.getSpanContext(outside);
  const trusted = adopts && request.origin.viaProxy;
  const { method } = request;
  const route = request.routeOptions.url;
  const attributes = {
    'http.request.method': method,
    ...(route === undefined ? {} : { 'http.route': route }),
    'quittance.request_id': request.id,
  };
  return tracer.startSpan(
    route === undefined ? method : `${method} ${route}`,
    {
      kind: SpanKind.SERVER,
      root: !trusted,
      links: remote === undefined || trusted ? [] : [{ context: remote }],
      attributes,
    },
    trusted ? outside : ROOT_CONTEXT,
  );
};

const endSpan = (request: FastifyRequest, reply: FastifyReply): void => {
  const { span, caller } = request;
  if (span === null) return;
  request.span = null;
  const { statusCode } = reply;
  span.setAttribute('http.response.status_code', statusCode);
  if (caller !== null) {
    span.setAttribute('deployment.environment.name', caller.environment.name);
    span.setAttribute('quittance.credential', caller.principal.kind);
  }
  if (statusCode >= 500) {
    span.setAttribute('error.type', String(statusCode));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
};

/** Probes arrive every few seconds, so they are not traced. */
const isProbe = ({ url }: FastifyRequest['routeOptions']): boolean => url?.startsWith('/v1/health') === true;

/**
 * Starts the server span of every call in the first hook, named by the route.
 * @param adopts whether trusted proxies begin the traces themselves
 */
export const registerTracing = (app: FastifyInstance, adopts: boolean): void => {
  app.decorateRequest('span', null);
  app.decorateRequest('traceId');
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isTracing()) return done();
    if (isProbe(request.routeOptions)) return untraced(done);
    request.span = beginSpan(request, adopts);
    request.traceId = traceIdOf(request.span);
    context.with(trace.setSpan(ROOT_CONTEXT, request.span), done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    endSpan(request, reply);
    done();
  });
  // An aborted request gets no answer, so its span would never end.
  app.addHook('onRequestAbort', async (request) => {
    request.span?.setStatus({ code: SpanStatusCode.ERROR });
    request.span?.end();
    request.span = null;
  });
};

/**
 * Runs the work of a call in its span, which reading the body has left. Adds the ids of the answer
 * to it.
 */
export const inCallSpan = async <T extends { body: unknown }>(
  { span }: FastifyRequest,
  work: () => Promise<T>,
): Promise<T> => {
  if (span === null) return work();
  const answer = await context.with(trace.setSpan(ROOT_CONTEXT, span), work);
  recordIds(span, answer.body);
  return answer;
};
