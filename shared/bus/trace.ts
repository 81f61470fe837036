import { context, propagation, type Span, type SpanKind, trace } from '@opentelemetry/api';
import { headers as createHeaders, type MsgHdrs } from 'nats';
import { record, secondsSince } from '../lib/metrics.ts';
import { errorType, inSpan } from '../lib/trace.ts';

/** Header of the request id, given by the gateway and carried on every hop. */
export const REQUEST_ID = 'x-request-id';

const getter = {
  get: (carrier: MsgHdrs, key: string) => carrier.get(key) || undefined,
  keys: (carrier: MsgHdrs) => carrier.keys(),
};
const setter = { set: (carrier: MsgHdrs, key: string, value: string) => carrier.set(key, value) };

/** Headers that carry the active trace context (W3C traceparent) over a hop. */
export const traceHeaders = (extra: Record<string, string> = {}): MsgHdrs => {
  const carrier = createHeaders();
  propagation.inject(context.active(), carrier, setter);
  for (const [key, value] of Object.entries(extra)) carrier.set(key, value);
  return carrier;
};

/** One thing done with the bus: a request or a message sent, a request or a message worked on. */
type BusOperation = {
  operation: 'request' | 'send' | 'process';
  /** The subject; one of the contract's, so that there are few. */
  destination: string;
  kind: SpanKind;
  /** Of what was received: their context is the parent and, as the semantic conventions ask of consumers, also a link. */
  headers?: MsgHdrs | undefined;
};

const measure = ({ operation, destination }: BusOperation, startedAt: number, error: string): void => {
  const labels = { 'messaging.destination.name': destination, 'error.type': error };
  if (operation === 'process')
    record('quittance_message_process_duration_seconds', secondsSince(startedAt), labels);
  else
    record('quittance_bus_operation_duration_seconds', secondsSince(startedAt), {
      'messaging.operation.name': operation,
      ...labels,
    });
};

/** Runs work in a span of its own and measures how long it took. */
export const inBusSpan = <T>(told: BusOperation, work: (span: Span) => Promise<T>): Promise<T> => {
  const { operation, destination, kind, headers } = told;
  const parent =
    headers === undefined ? context.active() : propagation.extract(context.active(), headers, getter);
  const remote = trace.getSpanContext(parent);
  const links = headers === undefined || remote === undefined ? [] : [{ context: remote }];
  const attributes = {
    'messaging.system': 'nats',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation === 'request' ? 'send' : operation,
    'messaging.destination.name': destination,
  };
  return inSpan(`${operation} ${destination}`, { kind, links, attributes, parent }, async (span) => {
    const startedAt = performance.now();
    try {
      const result = await work(span);
      measure(told, startedAt, 'none');
      return result;
    } catch (error) {
      measure(told, startedAt, errorType(error));
      throw error;
    }
  });
};
