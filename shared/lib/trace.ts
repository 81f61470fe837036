import { randomBytes } from 'node:crypto';
import {
  type Attributes,
  type Context,
  context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { ERRORS, ServiceError } from '../contract/errors.ts';
import { isUnavailable } from './unavailable.ts';

const tracer = trace.getTracer('quittance');

/** The active trace's W3C traceparent, for a row whose work goes on later; null without a trace. */
export const activeTraceparent = (): string | null => {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent ?? null;
};

const contextOf = (traceparent: string): Context => propagation.extract(ROOT_CONTEXT, { traceparent });

/** Runs work as a part of the trace that a row was kept with; without one, where it stands. */
export const inTraceOf = <T>(traceparent: string | null, work: () => T): T =>
  traceparent === null ? work() : context.with(contextOf(traceparent), work);

/**
 * Runs work that belongs to no call untraced, here and in whatever it asks of other services: what
 * goes by the clock would fill the collector with traces of nothing. What it does for a row goes on
 * in that row's trace.
 */
export const untraced = <T>(work: () => T): T => {
  const spanContext = {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    traceFlags: TraceFlags.NONE,
  };
  return context.with(trace.setSpanContext(ROOT_CONTEXT, spanContext), work);
};

/** Links to the traces that a piece of work done for many of them belongs to as well. */
export const linksTo = (traceparents: readonly (string | null)[]): Link[] =>
  traceparents.flatMap((traceparent) => {
    const linked = traceparent === null ? undefined : trace.getSpanContext(contextOf(traceparent));
    return linked === undefined ? [] : [{ context: linked }];
  });

/** What went wrong, as one of few words. */
export const errorType = (error: unknown): string => {
  if (error instanceof ServiceError) return error.code;
  return isUnavailable(error) ? 'service_unavailable' : 'internal_error';
};

/** A refusal that the caller caused is no fault of whoever answers it. */
const isFault = (error: unknown): boolean =>
  !(error instanceof ServiceError) || ERRORS[error.code].http >= 500;

type SpanSpec = { kind: SpanKind; attributes?: Attributes; links?: Link[]; parent?: Context };

/**
 * Runs work in a span of its own. An error is field by its kind alone: messages may hold what a
 * caller sent.
 * @param name of few: an operation and what it is done to, never an id
 */
export const inSpan = <T>(
  name: string,
  { parent = context.active(), ...options }: SpanSpec,
  work: (span: Span) => Promise<T>,
): Promise<T> =>
  tracer.startActiveSpan(name, options, parent, async (span) => {
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

/**
 * Fields by which an operator finds a payment. Tokens, keys, addresses of people and wallets are
 * never among them.
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
  'tx_hash',
  'status',
  'replayed',
] as const;

/** Puts the ids found in a call's input or answer on a span. */
export const recordIds = (span: Span | undefined, value: unknown): void => {
  if (span?.isRecording() !== true || typeof value !== 'object' || value === null) return;
  for (const name of ID_FIELDS) {
    const field = (value as Record<string, unknown>)[name];
    if (typeof field === 'boolean' || (typeof field === 'string' && field.length <= 128))
      span.setAttribute(`quittance.${name}`, field);
  }
};
