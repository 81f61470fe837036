import type { IncomingMessage } from 'node:http';
import type { Fetch } from '../../../sdk/src/main.ts';
import type { CallRecord } from './call-log.ts';

/** The request to the upstream as a span. */
export type UpstreamSpan = {
  /** The headers with the trace of this span. */
  headers: string[];
  end: (status: number | null, fault: string | null) => void;
};
/** One call of the gate. */
export type CallSpan = {
  /** Null: the call has no span. */
  traceId: string | null;
  /** Runs an admission in a span of its own, in which calls of the API have theirs. */
  admit: <T>(run: () => Promise<T>) => Promise<T>;
  upstream: (origin: URL, method: string, path: string, headers: string[]) => UpstreamSpan;
  end: (record: CallRecord) => void;
};
export type Tracing = {
  begin: (request: IncomingMessage, path: string) => CallSpan;
  /** The fetch of the paywall. Undefined: that of the platform. */
  fetch: Fetch | undefined;
  /** Sends what is left. */
  stop: () => Promise<void>;
};
