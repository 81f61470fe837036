import { ApiError } from '../../errors.ts';
import type { Input } from '../../types.ts';
import { later } from '../../wait.ts';
import { WaitingError } from './throttle.ts';

type Usage = NonNullable<Input<'settlement.usage'>['usages']>[number];

/** How often use is reported. A vendor can lose what was used since the last report. */
const INTERVAL_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;
/** The API's limit for one call. */
const MOST_USAGES = 100;
/** How long use may stay unreported before no further call is served on it. */
const STALE_MS = 30_000;

type UsageReportsDeps = {
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

const pauseAfter = (error: unknown, failures: number): number => {
  const waitMs = error instanceof ApiError ? error.retryAfterMs : null;
  return waitMs ?? Math.min(LONGEST_PAUSE_MS, INTERVAL_MS * 2 ** Math.min(failures, 10));
};

/** What was used and not reported: what calls have added, and what is being sent. */
const createQueue = () => {
  const queue: Usage[] = [];
  let pending = { amountMicro: 0n, charges: 0 };
  return {
    add: (amountMicro: bigint): void => {
      pending = { amountMicro: pending.amountMicro + amountMicro, charges: pending.charges + 1 };
    },
    /** What to send. A use keeps its id and amount until it is answered. */
    next: (): Usage[] => {
      const { amountMicro, charges } = pending;
      if (amountMicro > 0n && queue.length < MOST_USAGES) {
        const reason = charges === 1 ? '1 charge' : `${charges} charges`;
        queue.push({ usage_id: crypto.randomUUID(), amount: String(amountMicro), reason });
        pending = { amountMicro: 0n, charges: 0 };
      }
      return queue.slice();
    },
    remove: (batch: readonly Usage[]): void => {
      queue.splice(0, batch.length);
    },
    clear: (): void => {
      queue.length = 0;
      pending = { amountMicro: 0n, charges: 0 };
    },
    isEmpty: (): boolean => queue.length === 0 && pending.amountMicro === 0n,
  };
};

/**
 * Reports the use of one authorization, at most once a second. What many calls have used is one
 * use of the API. Each has an id that every repeat carries, so it counts once.
 */
export const createUsageReports = ({ report, onReported, onRefused, onError }: UsageReportsDeps) => {
  const queue = createQueue();
  let sending: Promise<void> | null = null;
  let [isDue, isRefused] = [false, false];
  let [failures, unansweredSince]: [number, number | null] = [0, null];

  /** @returns the pause before a repeat. Null: it is not repeated */
  const failed = (error: unknown): number | null => {
    if (isOver(error)) {
      isRefused = true;
      queue.clear();
      onRefused(error);
      return null;
    }
    failures += 1;
    if (!(error instanceof WaitingError)) onError(error);
    return pauseAfter(error, failures);
  };
  /** Sends what is there. @returns the pause before the next try, or null if all is reported */
  const sendOnce = async (): Promise<number | null> => {
    const batch = queue.next();
    if (batch.length === 0) return null;
    unansweredSince ??= Date.now();
    try {
      await report(batch);
    } catch (error) {
      return failed(error);
    }
    queue.remove(batch);
    [failures, unansweredSince] = [0, null];
    if (!queue.isEmpty()) return INTERVAL_MS;
    onReported();
    return null;
  };
  /** One report at a time. */
  const send = (): Promise<void> => {
    sending ??= sendOnce()
      .then(schedule)
      .finally(() => {
        sending = null;
      });
    return sending;
  };
  const schedule = (ms: number | null): void => {
    if (ms === null || isDue || isRefused) return;
    isDue = true;
    later(ms, () => {
      isDue = false;
      void send();
    });
  };

  return {
    add: (amountMicro: bigint): void => {
      if (amountMicro <= 0n || isRefused) return;
      queue.add(amountMicro);
      schedule(INTERVAL_MS);
    },
    /** Reports at once. @returns true if nothing is unreported */
    flush: async (): Promise<boolean> => {
      if (sending !== null) await sending;
      await send();
      return queue.isEmpty();
    },
    isEmpty: queue.isEmpty,
    /** The API has not answered for so long that no further call should be served. */
    isStale: (): boolean => unansweredSince !== null && Date.now() - unansweredSince > STALE_MS,
  };
};
