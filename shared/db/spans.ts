import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Interceptor, QueryContext } from 'slonik';
import { record, secondsSince } from '../lib/telemetry/metrics.ts';

const tracer = trace.getTracer('quittance');

/** Statements are written in the source, so there are few, and each is summarised once. */
const summaries = new Map<string, string>();

/**
 * The summary of a statement, as `db.query.summary` of the semantic conventions: the tables that it
 * changes or reads, in the order of the text, for example `INSERT attempts UPDATE wallet_holds`.
 * Values are bound, so the text contains none.
 */
export const summaryOf = (text: string): string => {
  const known = summaries.get(text);
  if (known !== undefined) return known;
  const changes = [
    ...text.matchAll(/\b(insert into|update|delete from)\s+(?!skip\b|of\b|set\b)([a-z_]+)\b/gi),
  ];
  const reads = changes.length > 0 ? [] : [...text.matchAll(/\b(from|join)\s+([a-z_]+)\b/gi)].slice(0, 1);
  const parts = [
    ...changes.map(([, verb, table]) => `${verb!.split(' ')[0]!.toUpperCase()} ${table}`),
    ...reads.map(([, , table]) => `SELECT ${table}`),
  ];
  const summary = [...new Set(parts)].join(' ').slice(0, 255) || 'SELECT';
  summaries.set(text, summary);
  return summary;
};

type Begun = { span: Span | undefined; startedAt: number; summary: string };

const end = ({ sandbox }: QueryContext, error: boolean): null => {
  const { span, startedAt, summary } = sandbox as Begun;
  record('quittance_db_operation_duration_seconds', secondsSince(startedAt), {
    'db.query.summary': summary,
    'error.type': error ? 'error' : 'none',
  });
  // Neither the text of the error nor the values are recorded, because both may contain input of a
  // caller.
  if (error) span?.setStatus({ code: SpanStatusCode.ERROR });
  span?.end();
  return null;
};

/**
 * Adds a span and a measurement to every statement. Work without a trace gets no span, because
 * sweeps never end.
 */
export const spans: Interceptor = {
  name: 'spans',
  beforeQueryExecution: ({ sandbox }, { sql }) => {
    const summary = summaryOf(sql);
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary };
    const span = trace.getActiveSpan() && tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes });
    Object.assign(sandbox, { span, startedAt: performance.now(), summary } satisfies Begun);
    return null;
  },
  afterQueryExecution: (queryContext) => end(queryContext, false),
  queryExecutionError: (queryContext) => end(queryContext, true),
};
