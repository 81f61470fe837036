import { afterEach, beforeEach, jest } from '@jest/globals';

/** Only `Date` and `setTimeout` are replaced, so what the network needs stays real. */
const REAL = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
] as const;

/** Returns the function that ends it. */
const begin = (): (() => void) => {
  jest.useFakeTimers({ doNotFake: [...REAL] });
  const stepping = setInterval(() => {
    if (jest.getTimerCount() > 0) jest.advanceTimersToNextTimer();
  }, 1);
  return () => {
    clearInterval(stepping);
    jest.useRealTimers();
  };
};

/**
 * Does the work without its pauses: each `setTimeout` ends within a millisecond or two, the
 * earliest first, and `Date` jumps to its end. So a test waits neither for back-offs nor for
 * `Retry-After`, and the code takes the same steps in the same order.
 */
export const withoutPauses = async <T>(work: () => Promise<T>): Promise<T> => {
  const end = begin();
  try {
    return await work();
  } finally {
    end();
  }
};

/** Every test of this file or block runs without its pauses. */
export const skipPauses = (): void => {
  let end: () => void;
  beforeEach(() => {
    end = begin();
  });
  afterEach(() => end());
};
