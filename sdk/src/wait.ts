const FIRST_MS = 250;
const LONGEST_MS = 10_000;

/**
 * The pause before a retry if the API names none: it doubles, with jitter so that clients do not
 * synchronise.
 */
export const backoffMs = (tries: number): number =>
  Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2);

/** @throws the signal's reason if it is aborted */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });

/**
 * Runs something later. In Node the timer does not keep the process alive.
 * @returns cancels it
 */
export const later = (ms: number, run: () => void): (() => void) => {
  const timer: unknown = setTimeout(run, ms);
  (timer as { unref?: () => void }).unref?.();
  return () => clearTimeout(timer as number);
};

/** A pause in the background, which does not keep the process alive. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    later(ms, resolve);
  });
