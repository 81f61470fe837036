import type { IncomingMessage } from 'node:http';

/** What one call was, for its line in the log and for the metrics. */
export type CallRecord = {
  route: string | null;
  /**
   * `free`: passed unpaid. `quoted`: 402 with a price. `paid`: a payment was delivered for.
   * `replayed`: the stored answer of one. `refused`: by the gate or the paywall.
   */
  outcome: 'free' | 'quoted' | 'paid' | 'replayed' | 'refused';
  status: number | null;
  upstream_status: number | null;
  bytes: number;
  /** Why it was refused, or what went wrong. A code. */
  reason: string | null;
  payment_id: string | null;
  amount: string | null;
};

/** The trace of the caller (W3C Trace Context), which also reaches the upstream. */
const traceOf = ({ headers }: IncomingMessage): string | undefined =>
  /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/.exec(String(headers.traceparent ?? ''))?.[1];

/**
 * The fields of a line. The query is left out, because some callers put secrets into it. Fields
 * without a value are left out too.
 */
export const fieldsOf = (request: IncomingMessage, path: string, ms: number, record: CallRecord): object => {
  const said = Object.entries(record).filter(([, value]) => value !== null);
  const trace_id = traceOf(request);
  return {
    method: request.method,
    path,
    ...Object.fromEntries(said),
    ms: Math.round(ms * 100) / 100,
    remote: request.socket.remoteAddress,
    ...(trace_id !== undefined && { trace_id }),
  };
};
