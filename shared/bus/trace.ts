import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, context, propagation, type Span, type SpanKind, trace } from '@opentelemetry/api';
import { headers as createHeaders, type MsgHdrs } from 'nats';
import { record, secondsSince } from '../lib/telemetry/metrics.ts';
import { errorType, inSpan, isTracing } from '../lib/telemetry/trace.ts';
import type { NotedIds } from './envelope.ts';

/** The header of the request id. The gateway sets it, and every hop passes it on. */
export const REQUEST_ID = 'x-request-id';

/** The header of the build that has sent a call. */
export const BUILD = 'x-build';

/** The call that a service answers: its request id, and the ids that its answer lacks. */
type ActiveCall = { requestId: string | undefined; noted: NotedIds };
const activeCall = new AsyncLocalStorage<ActiveCall>();

/** Runs the work of a call, whose calls of other services carry its request id. */
export const inCall = <T>(call: ActiveCall, work: () => T): T => activeCall.run(call, work);

/** The header that passes the request id of the active call on. */
export const requestHeader = (): Record<string, string> => {
  const id = activeCall.getStore()?.requestId;
  return id === undefined ? {} : { [REQUEST_ID]: id };
};

/** Adds ids to the log lines of the active call, which its input and answer do not have. */
export const noteIds = (ids: NotedIds): void => void Object.assign(activeCall.getStore()?.noted ?? {}, ids);

const getter = {
  get: (carrier: MsgHdrs, key: string) => carrier.get(key) || undefined,
  keys: (carrier: MsgHdrs) => carrier.keys(),
};
const setter = { set: (carrier: MsgHdrs, key: string, value: string) => carrier.set(key, value) };

/** The headers with the active trace context (W3C traceparent). */
export const traceHeaders = (extra: Record<string, string> = {}): MsgHdrs => {
  const carrier = createHeaders();
  propagation.inject(context.active(), carrier, setter);
  for (const [key, value] of Object.entries(extra)) carrier.set(key, value);
  return carrier;
};

/** One operation on the bus: sending or processing a request or a message. */
type BusOperation = {
  operation: 'request' | 'send' | 'process';
  /** The subject. The contract limits their number. */
  destination: string;
  kind: SpanKind;
  /**
   * The context of a received message. It is the parent and also a link, as the semantic
   * conventions require for consumers.
   */
  received?: Context | undefined;
};

/** The context in the headers of a received message. */
export const contextOfHeaders = (headers: MsgHdrs | undefined): Context | undefined =>
  headers === undefined ? undefined : propagation.extract(context.active(), headers, getter);

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

/** What the span of an operation is about. */
const spanOf = ({ operation, destination, kind, received }: BusOperation): Parameters<typeof inSpan>[1] => {
  const remote = received && trace.getSpanContext(received);
  return {
    kind,
    parent: received ?? context.active(),
    links: remote === undefined ? [] : [{ context: remote }],
    attributes: {
      'messaging.system': 'nats',
      'messaging.operation.name': operation,
      'messaging.operation.type': operation === 'request' ? 'send' : operation,
      'messaging.destination.name': destination,
    },
  };
};

/** Runs work in a span and measures its duration. */
export const inBusSpan = <T>(busOperation: BusOperation, work: (span: Span) => Promise<T>): Promise<T> => {
  const { operation, destination, kind } = busOperation;
  const spec = isTracing() ? spanOf(busOperation) : { kind };
  return inSpan(`${operation} ${destination}`, spec, async (span) => {
    const startedAt = performance.now();
    try {
      const result = await work(span);
      measure(busOperation, startedAt, 'none');
      return result;
    } catch (error) {
      measure(busOperation, startedAt, errorType(error));
      throw error;
    }
  });
};
