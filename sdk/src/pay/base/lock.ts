const untilAborted = async (before: Promise<void>, signal: AbortSignal | undefined): Promise<void> => {
  signal?.throwIfAborted();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal!.reason);
    signal?.addEventListener('abort', abort, { once: true });
  });
  try {
    await Promise.race([before, aborted]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
};

/**
 * Runs calls with the same name one after another, in order. A call that is aborted while it waits
 * does not run.
 */
export const createLocks = () => {
  const tails = new Map<string, Promise<void>>();
  return async <T>(name: string, signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> => {
    const before = tails.get(name) ?? Promise.resolve();
    const { promise: mine, done } = openPromise();
    const tail = before.then(() => mine);
    tails.set(name, tail);
    try {
      await untilAborted(before, signal);
      return await run();
    } finally {
      done();
      if (tails.get(name) === tail) tails.delete(name);
    }
  };
};

const openPromise = () => {
  let done: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    done = resolve;
  });
  return { promise, done };
};
