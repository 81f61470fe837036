import { randomBytes } from 'node:crypto';
import {
  type Attributes,
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  type Link,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { ERRORS, ServiceError } from '../../contract/errors.ts';
import { isUnavailable } from '../unavailable.ts';

const tracer = trace.getTracer('quittance');
const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/**
 * Whether the SDK records spans. Without it a span would still cost its attributes, its links and
 * several contexts.
 */
export const isTracing = (): boolean => {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('quittance') !== undefined;
};

/**
 * The W3C traceparent of the active trace, for a row that is processed later. Null without a trace.
 */
export const activeTraceparent = (): string | null => {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent ?? null;
};

/** The context of a stored traceparent. */
export const contextOf = (traceparent: string): Context => propagation.extract(ROOT_CONTEXT, { traceparent });

/** Runs work in the trace that is stored with a row, or in the active context if there is none. */
export const inTraceOf = <T>(traceparent: string | null, work: () => T): T =>
  traceparent === null ? work() : context.with(contextOf(traceparent), work);

/**
 * Runs work without a trace, including its calls of other services. Otherwise periodic work would
 * fill the collector with empty traces. Work for a row continues in the trace of that row.
 */
export const untraced = <T>(work: () => T): T => {
  if (!isTracing()) return work();
  const spanContext = {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    traceFlags: TraceFlags.NONE,
  };
  return context.with(trace.setSpanContext(ROOT_CONTEXT, spanContext), work);
};

/** Links to the other traces of work that is done for several of them. */
export const linksTo = (traceparents: readonly (string | null)[]): Link[] =>
  traceparents.flatMap((traceparent) => {
    const linked = traceparent === null ? undefined : trace.getSpanContext(contextOf(traceparent));
    return linked === undefined ? [] : [{ context: linked }];
  });

/** The kind of an error; there are few. */
export const errorType = (error: unknown): string => {
  if (error instanceof ServiceError) return error.code;
  return isUnavailable(error) ? 'service_unavailable' : 'internal_error';
};

/** An error that the caller caused is not a fault of the service. */
const isFault = (error: unknown): boolean =>
  !(error instanceof ServiceError) || ERRORS[error.code].http >= 500;

type SpanSpec = { kind: SpanKind; attributes?: Attributes; links?: Link[]; parent?: Context };

/**
 * Runs work in a span. Only the kind of an error is recorded, because its message may contain input
 * of a caller.
 * @param name an operation and its object, never an id, so that names are few
 */
export const inSpan = <T>(
  name: string,
  { parent = context.active(), ...options }: SpanSpec,
  work: (span: Span) => Promise<T>,
): Promise<T> => {
  if (!isTracing()) return work(NO_SPAN);
  return tracer.startActiveSpan(name, options, parent, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setAttribute('error.type', errorType(error));
      if (isFault(error)) span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
};

/**
 * Fields for finding a payment. They never include tokens, keys, or addresses of people and
 * wallets.
 */
const ID_FIELDS = [
  'quote_id',
  'settlement_id',
  'payment_attempt_id',
  'service_id',
  'delegate_id',
  'wallet_id',
  'deposit_id',
  'withdrawal_id',
  'refund_id',
  'approval_id',
  'decline_id',
  'tx_hash',
  'status',
  'replayed',
] as const;

type Ids = Partial<Record<`${(typeof ID_FIELDS)[number]}`, string | boolean>>;

/**
 * The ids in the input or output of a call, for a span or a log line. Only the named fields are
 * read, so a secret or an address cannot get into a line.
 */
const idsIn = (value: unknown): Ids => {
  const ids: Ids = {};
  if (typeof value !== 'object' || value === null) return ids;
  for (const name of ID_FIELDS) {
    const field = (value as Record<string, unknown>)[name];
    if (typeof field === 'boolean' || (typeof field === 'string' && field.length <= 128)) ids[name] = field;
  }
  return ids;
};

/**
 * The same for the line of a call. The status of the object has another name there, because the
 * line of the gateway has the status of HTTP.
 */
export const loggedIds = (value: unknown): Record<string, string | boolean> => {
  const { status, ...ids } = idsIn(value);
  return status === undefined ? ids : { ...ids, object_status: status };
};

/** Sets the ids in the input or output of a call as attributes of a span. */
export const recordIds = (span: Span | undefined, value: unknown): void => {
  if (span?.isRecording() !== true) return;
  for (const [name, id] of Object.entries(idsIn(value))) span.setAttribute(`quittance.${name}`, id);
};

/**
 * The trace of a span, for a log line that is written after it ended. Undefined without tracing.
 */
export const traceIdOf = (span: Span): string | undefined => {
  const spanContext = span.spanContext();
  return isSpanContextValid(spanContext) ? spanContext.traceId : undefined;
};
