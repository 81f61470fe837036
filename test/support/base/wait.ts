import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 20;

const shown = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${part}` : part));

/**
 * Reads until the value is as expected, and returns it.
 * @throws with the last value if a read that began after `ms` is not as expected; a slow read alone
 *   fails nothing
 */
export const waitFor = async <T>(
  read: () => T | Promise<T>,
  good: (value: T) => boolean,
  ms = 60_000,
  everyMs = PAUSE_MS,
): Promise<T> => {
  const deadline = performance.now() + ms;
  for (;;) {
    const isLast = performance.now() > deadline;
    const value = await read();
    if (good(value)) return value;
    if (isLast) throw new Error(`not within ${ms} ms, the last value: ${shown(value)}`);
    await sleep(everyMs);
  }
};

/**
 * Waits until a condition holds.
 * @throws when it does not hold within the time
 */
export const waitUntil = async (
  condition: () => boolean | Promise<boolean>,
  { withinMs = 60_000, everyMs = 25 }: { withinMs?: number; everyMs?: number } = {},
): Promise<void> => {
  await waitFor(condition, (holds) => holds, withinMs, everyMs);
};

/**
 * Reads repeatedly for `ms`, and returns the last value.
 * @throws as soon as a value is not as expected
 */
export const staysFor = async <T>(
  ms: number,
  read: () => T | Promise<T>,
  good: (value: T) => boolean,
): Promise<T> => {
  const deadline = performance.now() + ms;
  for (;;) {
    const value = await read();
    if (!good(value)) throw new Error(`changed within ${ms} ms: ${shown(value)}`);
    if (performance.now() > deadline) return value;
    await sleep(PAUSE_MS);
  }
};
