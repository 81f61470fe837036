/**
 * Two signals within this time are one: a terminal sends Ctrl-C to npm and to us, and npm passes it
 * on.
 */
const SAME_MS = 1000;

/**
 * What a signal of a person does: the first Ctrl-C stops everything in order, a later one kills it.
 */
export const createInterrupts = (
  { stop, abort }: { stop: () => void; abort: () => void },
  now: () => number = Date.now,
): (() => void) => {
  let firstAt: number | undefined;
  return () => {
    firstAt ??= now();
    if (now() - firstAt > SAME_MS) abort();
    else stop();
  };
};
