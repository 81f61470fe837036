/** One HTTP call. `body` is JSON text that was built before the clock started. */
export type Call = { method: 'GET' | 'POST'; path: string; token?: string; body?: string };

export type CallsJob = {
  kind: 'calls';
  origin: string;
  calls: readonly Call[];
  /** Connections, each with one open call. */
  concurrency: number;
  /** No new call begins after this time. */
  seconds?: number;
  /** Before each call its connection pauses for a random time up to this maximum. */
  restUpToMs?: number;
  /** Start again after the last call. Otherwise each call is made once. */
  repeat?: boolean;
  /**
   * The only status that is counted, of a success or of a refusal. Another success, such as a
   * settle's 202, is only in `statuses`. Absent: every 2xx.
   */
  counted?: number;
  /**
   * The text that a counted answer contains. Others are in `others`, because x402 also answers a
   * refusal with 200.
   */
  countedText?: string;
  /** Return the bodies of the answers, in the order of the calls. */
  keepBodies?: boolean;
};

/** Whole payments: quote, settle and redeem, one after the other. */
export type PaymentsJob = {
  kind: 'payments';
  origin: string;
  vendor: { apiKey: string; serviceId: string };
  /** Used in turn. */
  payerTokens: readonly string[];
  concurrency: number;
  seconds: number;
  /** Payments begun per second, at equal intervals; absent: as many as the connections can make. */
  perSecond?: number;
};

export type Job = CallsJob | PaymentsJob;
export type Step = 'call' | 'quote' | 'settle' | 'redeem';

export type Outcome = {
  /** Milliseconds of each answered call, by step. */
  times: Partial<Record<Step, number[]>>;
  /** From the first request to the last answer. */
  elapsedMs: number;
  /** Answers by status; 0 for a call without an answer. */
  statuses: Record<number, number>;
  /** Answers without `countedText`. */
  others: { count: number; first?: string };
  /** The first answer that was not a success. */
  firstFailure?: string;
  bodies?: string[];
};
