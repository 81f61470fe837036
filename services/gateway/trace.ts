import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS } from '../../shared/contract/errors.ts';
import { toServiceError } from './errors.ts';

const tracer = trace.getTracer('quittance.gateway');

/**
 * Runs a call in its server span, named by the route. A traceparent from outside starts a trace of our own that
 * is linked to it, as its sampling is not ours to obey; one that came through a trusted proxy is adopted.
 */
export const inServerSpan = (
  request: FastifyRequest,
  reply: FastifyReply,
  route: { method: string; path: string },
  work: () => Promise<unknown>,
): Promise<unknown> => {
  const outside = propagation.extract(ROOT_CONTEXT, request.headers);
  const remote = trace.getSpanContext(outside);
  const trusted = request.origin.viaProxy;
  const options = {
    kind: SpanKind.SERVER,
    root: !trusted,
    links: remote === undefined || trusted ? [] : [{ context: remote }],
    attributes: { 'http.request.method': route.method, 'http.route': route.path },
  };
  const parent = trusted ? outside : context.active();
  return tracer.startActiveSpan(`${route.method} ${route.path}`, options, parent, async (span) => {
    let status: number = ERRORS.internal_error.http;
    try {
      const result = await work();
      status = reply.statusCode;
      return result;
    } catch (error) {
      status = ERRORS[toServiceError(error)?.code ?? 'internal_error'].http;
      throw error;
    } finally {
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    }
  });
};
