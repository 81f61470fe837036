import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, NoAnswerError } from '../../sdk/src/main.ts';
import type { Io } from './io.ts';

/** After an item the next one is often near, so the interval begins short and grows. */
const FASTEST_MS = 1000;
const SLOWEST_MS = 5000;
const LONGEST_OUTAGE_WAIT_MS = 30_000;

/**
 * Reads what is new, again and again. While the API does not answer, it tries again, so that
 * nothing is lost.
 * @param what is read, for the terminal: `The events`
 */
export const following = <T>(io: Io, what: string, read: () => Promise<T[]>) => {
  const begin = async (): Promise<T[]> => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await read();
      } catch (error) {
        io.signal.throwIfAborted();
        const isTemporary = error instanceof NoAnswerError || (error instanceof ApiError && error.retryable);
        if (!isTemporary) throw error;
        const outageMs = Math.min(2 ** tries * 1000, LONGEST_OUTAGE_WAIT_MS);
        const waitMs = Math.max(error.retryAfterMs ?? 0, outageMs);
        io.err(`${what} cannot be read now: ${error.message}. Again in ${Math.ceil(waitMs / 1000)} s.\n`);
        await sleep(waitMs, undefined, { signal: io.signal });
      }
    }
  };
  let waitMs = FASTEST_MS;
  return {
    /** The first read. */
    begin,
    /** Waits for the time of the next read. */
    next: async (): Promise<T[]> => {
      await sleep(waitMs, undefined, { signal: io.signal });
      const found = await begin();
      waitMs = found.length > 0 ? FASTEST_MS : Math.min(waitMs * 1.5, SLOWEST_MS);
      return found;
    },
  };
};
