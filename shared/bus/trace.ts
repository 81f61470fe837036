import { context, propagation, type Span, type SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { headers as createHeaders, type MsgHdrs } from 'nats';

const tracer = trace.getTracer('quittance.bus');

/** Header of the request id, given by the gateway and carried on every hop. */
export const REQUEST_ID = 'x-request-id';

const getter = {
  get: (carrier: MsgHdrs, key: string) => carrier.get(key) || undefined,
  keys: (carrier: MsgHdrs) => carrier.keys(),
};
const setter = { set: (carrier: MsgHdrs, key: string, value: string) => carrier.set(key, value) };

/** The active trace's W3C traceparent, for a row whose work goes on later; null without a trace. */
export const activeTraceparent = (): string | null => {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent ?? null;
};

/** Headers that carry the active trace context (W3C traceparent) over a hop. */
export const traceHeaders = (extra: Record<string, string> = {}): MsgHdrs => {
  const carrier = createHeaders();
  propagation.inject(context.active(), carrier, setter);
  for (const [key, value] of Object.entries(extra)) carrier.set(key, value);
  return carrier;
};

/**
 * Runs work in a span. With headers, their context is the parent and, as the semantic conventions ask of
 * consumers, also a link.
 */
export const inSpan = <T>(
  name: string,
  kind: SpanKind,
  headers: MsgHdrs | undefined,
  work: (span: Span) => Promise<T>,
): Promise<T> => {
  const parent =
    headers === undefined ? context.active() : propagation.extract(context.active(), headers, getter);
  const remote = trace.getSpanContext(parent);
  const links = headers === undefined || remote === undefined ? [] : [{ context: remote }];
  return tracer.startActiveSpan(
    name,
    { kind, links, attributes: { 'messaging.system': 'nats' } },
    parent,
    async (span) => {
      try {
        return await work(span);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
  );
};
