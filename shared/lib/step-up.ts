import { ServiceError } from '../contract/errors.ts';

/**
 * The maximum age of a sign-in for sensitive calls (docs/spec/decisions.md, Sign-in). A refreshed
 * token keeps the age of its sign-in.
 */
const FRESH_MS = 5 * 60_000;

/**
 * Whether a caller has signed in recently.
 * @param now epoch milliseconds of the database's clock
 */
export const isFresh = ({ auth_time }: { auth_time: number }, now: number): boolean =>
  now - auth_time * 1000 <= FRESH_MS;

/**
 * Refuses a caller whose sign-in is too old for a sensitive call.
 * @param now epoch milliseconds of the database's clock
 * @throws ServiceError reauthentication_required
 */
export const requireFresh = (caller: { auth_time: number }, now: number): void => {
  if (isFresh(caller, now)) return;
  throw new ServiceError(
    'reauthentication_required',
    'this call needs a sign-in of the last 5 minutes; sign in again, then repeat it',
  );
};
