import type { IncomingMessage } from 'node:http';

export type GateLog = {
  info: (fields: object, message: string) => void;
  warn: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
};

/** What one call was, for its line in the log and for the metrics. */
export type CallRecord = {
  route: string | null;
  /**
   * `free`: passed unpaid. `quoted`: 402 with a price. `paid`: a payment was delivered for.
   * `replayed`: the stored answer of one. `closed`: a buyer has ended a tab. `refused`: by the gate
   * or the paywall.
   */
  outcome: 'free' | 'quoted' | 'paid' | 'replayed' | 'closed' | 'refused';
  status: number | null;
  upstream_status: number | null;
  bytes: number;
  /** Why it was refused, or what went wrong. A code. */
  reason: string | null;
  payment_id: string | null;
  /** The price. On a metered route what the call has cost. */
  amount: string | null;
};

/** The trace of the caller (W3C Trace Context), which also reaches the upstream. */
const traceOf = ({ headers: { traceparent } }: IncomingMessage): string | undefined =>
  typeof traceparent === 'string'
    ? /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/.exec(traceparent)?.[1]
    : undefined;

/**
 * The fields of a line. The query is left out, because some callers put secrets into it. Fields
 * without a value are left out by the logger.
 */
export const fieldsOf = (
  request: IncomingMessage,
  { path, ms, traceId }: { path: string; ms: number; traceId: string | null },
  record: CallRecord,
): object => ({
  method: request.method,
  path,
  route: record.route ?? undefined,
  outcome: record.outcome,
  status: record.status ?? undefined,
  upstream_status: record.upstream_status ?? undefined,
  bytes: record.bytes,
  reason: record.reason ?? undefined,
  payment_id: record.payment_id ?? undefined,
  amount: record.amount ?? undefined,
  ms: Math.round(ms * 100) / 100,
  remote: request.socket.remoteAddress,
  trace_id: traceId ?? traceOf(request),
});
