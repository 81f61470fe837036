/** One HTTP call; `body` is the JSON text, made before the clock runs. */
export type Call = { method: 'GET' | 'POST'; path: string; token?: string; body?: string };

export type CallsJob = {
  kind: 'calls';
  origin: string;
  calls: readonly Call[];
  /** Connections, each with one call under way. */
  concurrency: number;
  /** No new call after this. */
  seconds?: number;
  /** Before each call its connection rests for a random time of at most this. */
  restUpToMs?: number;
  /** Begin again after the last one; otherwise each is made once. */
  repeat?: boolean;
  /**
   * The only status that is counted; another success, 202 of a settle, is in `statuses` alone.
   * Absent: every 2xx.
   */
  counted?: number;
  /** Give the answers' bodies back, in the order of the calls. */
  keepBodies?: boolean;
};

/** Whole payments, quote, settle and redeem one after the other. */
export type PaymentsJob = {
  kind: 'payments';
  origin: string;
  vendor: { apiKey: string; serviceId: string };
  /** Taken in turn. */
  payerTokens: readonly string[];
  concurrency: number;
  seconds: number;
  /** Payments begun a second, at even distances; absent: as many as the connections can. */
  perSecond?: number;
};

export type Job = CallsJob | PaymentsJob;
export type Step = 'call' | 'quote' | 'settle' | 'redeem';

export type Outcome = {
  /** Milliseconds of each answered call, by step. */
  times: Partial<Record<Step, number[]>>;
  /** From the first call sent to the last answer. */
  elapsedMs: number;
  /** Answers by status, 0 for a call without one. */
  statuses: Record<number, number>;
  /** The first answer that was no success. */
  firstFailure?: string;
  bodies?: string[];
};
