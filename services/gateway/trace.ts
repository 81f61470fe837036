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
import { recordIds, untraced } from '../../shared/lib/trace.ts';

const tracer = trace.getTracer('quittance');

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | null;
  }
}

/**
 * A traceparent from outside starts a trace of our own that is linked to it, as its sampling is not ours to obey;
 * one of a trusted proxy that begins the traces itself is adopted. Baggage goes no further: the work of a call runs in the
 * root context with this span alone.
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

/** Probes come every few seconds for ever. */
const isProbe = ({ url }: FastifyRequest['routeOptions']): boolean => url?.startsWith('/v1/health') === true;

/**
 * Gives every call its server span, named by the route, from its first hook on.
 * @param adopts whether the traceparent of a trusted proxy is its own
 */
export const registerTracing = (app: FastifyInstance, adopts: boolean): void => {
  app.decorateRequest('span', null);
  app.addHook('onRequest', (request, _reply, done) => {
    if (isProbe(request.routeOptions)) return untraced(done);
    request.span = beginSpan(request, adopts);
    context.with(trace.setSpan(ROOT_CONTEXT, request.span), done);
  });
  app.addHook('onResponse', async (request, reply) => endSpan(request, reply));
  // Nobody is left to answer: without this the span would never end.
  app.addHook('onRequestAbort', async (request) => {
    request.span?.setStatus({ code: SpanStatusCode.ERROR });
    request.span?.end();
    request.span = null;
  });
};

/** Runs the work of a call in its span again (reading the body leaves it), and puts the ids of the answer on it. */
export const inCallSpan = async <T extends { body: unknown }>(
  { span }: FastifyRequest,
  work: () => Promise<T>,
): Promise<T> => {
  if (span === null) return work();
  const answer = await context.with(trace.setSpan(ROOT_CONTEXT, span), work);
  recordIds(span, answer.body);
  return answer;
};
