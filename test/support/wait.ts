import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 20;

/**
 * Reads until the value is good, and returns it.
 * @throws after `ms`, with the last value
 */
export const waitFor = async <T>(
  read: () => T | Promise<T>,
  good: (value: T) => boolean,
  ms = 30_000,
): Promise<T> => {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await read();
    if (good(value)) return value;
    if (Date.now() > deadline)
      throw new Error(`not within ${ms} ms, the last value: ${JSON.stringify(value)}`);
    await sleep(PAUSE_MS);
  }
};

/**
 * Reads again and again for `ms`, and returns the last value.
 * @throws as soon as a value is not good
 */
export const staysFor = async <T>(
  ms: number,
  read: () => T | Promise<T>,
  good: (value: T) => boolean,
): Promise<T> => {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await read();
    if (!good(value)) throw new Error(`changed within ${ms} ms: ${JSON.stringify(value)}`);
    if (Date.now() > deadline) return value;
    await sleep(PAUSE_MS);
  }
};
