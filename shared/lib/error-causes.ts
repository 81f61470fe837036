import { types } from 'node:util';

/** A limit, because a cause may refer to itself. */
const MAX_CAUSES = 5;

/** Whether an error or one of its causes matches. */
export const hasCause = (
  error: unknown,
  matches: (error: Error & { code?: unknown }) => boolean,
): boolean => {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && types.isNativeError(current); depth += 1) {
    if (matches(current)) return true;
    current = current.cause;
  }
  return false;
};

/** Whether an error or one of its causes has a code (SQLSTATE or a code of Node) that matches. */
export const hasErrorCode = (error: unknown, codes: RegExp): boolean =>
  hasCause(error, ({ code }) => typeof code === 'string' && codes.test(code));
