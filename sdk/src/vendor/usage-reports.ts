import { ApiError } from '../errors.ts';
import type { Input } from '../types.ts';
import { later } from '../wait.ts';
import { WaitingError } from './throttle.ts';

type Usage = NonNullable<Input<'settlement.usage'>['usages']>[number];

/** How often use is reported. A vendor can lose what was used since the last report. */
const INTERVAL_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;
/** The API's limit for one call. */
const MOST_USAGES = 100;
/** How long use may stay unreported before no further call is served on it. */
const STALE_MS = 30_000;

export type UsageReportsDeps = {
  report: (usages: Usage[]) => Promise<unknown>;
  /** Nothing is unreported. */
  onReported: () => void;
  /** The API accepts no further use. What was not reported is lost. */
  onRefused: (error: ApiError) => void;
  onError: (error: unknown) => void;
};

/** What a report that failed means: it is repeated, or the authorization has ended. */
const isOver = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  ['authorization_closed', 'usage_exceeds_authorization', 'not_found', 'conflict'].includes(error.code);

/**
 * Reports the use of one authorization, at most once a second. What many calls have used is one
 * use of the API. Each has an id that every repeat carries, so it counts once.
 */
export const createUsageReports = ({ report, onReported, onRefused, onError }: UsageReportsDeps) => {
  const queue: Usage[] = [];
  let pending = { amountMicro: 0n, calls: 0 };
  let sending: Promise<void> | null = null;
  let isDue = false;
  let isRefused = false;
  let failures = 0;
  let unansweredSince: number | null = null;

  const seal = (): void => {
    const { amountMicro, calls } = pending;
    if (amountMicro === 0n || queue.length === MOST_USAGES) return;
    const reason = calls === 1 ? '1 charge' : `${calls} charges`;
    queue.push({ usage_id: crypto.randomUUID(), amount: String(amountMicro), reason });
    pending = { amountMicro: 0n, calls: 0 };
  };
  const unreported = (): bigint =>
    queue.reduce((sum, { amount }) => sum + BigInt(amount!), pending.amountMicro);

  /** Sends what is there. @returns the pause before the next try, or null if all is reported */
  const sendOnce = async (): Promise<number | null> => {
    seal();
    if (queue.length === 0) return null;
    const batch = queue.slice();
    unansweredSince ??= Date.now();
    try {
      await report(batch);
      queue.splice(0, batch.length);
      [failures, unansweredSince] = [0, null];
      if (pending.amountMicro > 0n) return INTERVAL_MS;
      onReported();
      return null;
    } catch (error) {
      if (isOver(error)) {
        isRefused = true;
        onRefused(error);
        return null;
      }
      failures += 1;
      if (!(error instanceof WaitingError)) onError(error);
      const waitMs = error instanceof ApiError ? error.retryAfterMs : null;
      return waitMs ?? Math.min(LONGEST_PAUSE_MS, INTERVAL_MS * 2 ** Math.min(failures, 10));
    }
  };
  /** One report at a time. */
  const send = (): Promise<void> => {
    sending ??= sendOnce()
      .then((pauseMs) => {
        if (pauseMs !== null) schedule(pauseMs);
      })
      .finally(() => {
        sending = null;
      });
    return sending;
  };
  const schedule = (ms: number): void => {
    if (isDue || isRefused) return;
    isDue = true;
    later(ms, () => {
      isDue = false;
      void send();
    });
  };

  return {
    add: (amountMicro: bigint): void => {
      if (amountMicro <= 0n || isRefused) return;
      pending = { amountMicro: pending.amountMicro + amountMicro, calls: pending.calls + 1 };
      schedule(INTERVAL_MS);
    },
    /** Reports at once. @returns true if nothing is unreported */
    flush: async (): Promise<boolean> => {
      if (sending !== null) await sending;
      if (!isRefused) await send();
      return isRefused || unreported() === 0n;
    },
    /** The API has not answered for so long that no further call should be served. */
    isStale: (): boolean => unansweredSince !== null && Date.now() - unansweredSince > STALE_MS,
  };
};
export type UsageReports = ReturnType<typeof createUsageReports>;
