/** A cause that refers to itself must not hold up its reader. */
const MAX_CAUSES = 5;

/** Whether an error, or one of its causes, is what `matches` looks for. */
export const hasCause = (
  error: unknown,
  matches: (error: Error & { code?: unknown }) => boolean,
): boolean => {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    if (matches(current)) return true;
    current = current.cause;
  }
  return false;
};

/** Whether an error, or one of its causes, has a code (SQLSTATE, or Node's own) that matches. */
export const hasCode = (error: unknown, codes: RegExp): boolean =>
  hasCause(error, ({ code }) => typeof code === 'string' && codes.test(code));
