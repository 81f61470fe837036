import { pause } from '../../wait.ts';

/** So many reads one after another do not wait. */
const FREE = 4;
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4000;
/** After this time without a read, further ones do not wait. */
const QUIET_MS = 10_000;

/** How long the next read waits, because anybody with a payment can cause reads. */
const createPace = () => {
  let [made, lastAt] = [0, 0];
  return {
    wait: async (): Promise<void> => {
      if (Date.now() - lastAt > QUIET_MS) made = 0;
      if (made >= FREE) await pause(Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** (made - FREE)));
      made = Math.min(made + 1, FREE + 10);
      lastAt = Date.now();
    },
    restart: (): void => {
      made = 0;
    },
  };
};

/**
 * Reads of one thing, each of which begins after it was asked for. So it shows what its caller has
 * done before. Concurrent callers share a read, and few reads are made of what does not change.
 * @param stateOf what has changed if this has
 */
export const freshReads = <T>(read: () => Promise<T>, stateOf: (found: T) => unknown): (() => Promise<T>) => {
  const pace = createPace();
  let state: unknown;
  let next: Promise<T> | null = null;
  let before: Promise<unknown> = Promise.resolve();
  return () => {
    if (next !== null) return next;
    const reading = before.then(pace.wait).then(async () => {
      // Who asks from here on gets another read.
      next = null;
      const found = await read();
      if (stateOf(found) !== state) pace.restart();
      state = stateOf(found);
      return found;
    });
    next = reading;
    before = reading.catch(() => undefined);
    return reading;
  };
};
