import { DEVICE_REFUSAL } from '../../contract/device-access.ts';
import { ServiceError } from '../../contract/errors.ts';

/**
 * The maximum age of a sign-in for sensitive calls (docs/spec/decisions.md, Sign-in). A refreshed
 * token keeps the age of its sign-in.
 */
const FRESH_MS = 5 * 60_000;

type SignedIn = { auth_time: number; device?: true | undefined };

/**
 * Whether a person has signed in recently. The sign-in of a device is never fresh, because the
 * person at the device may be another one than the person who confirmed its code.
 * @param now epoch milliseconds of the database's clock
 */
export const isFresh = ({ auth_time, device }: SignedIn, now: number): boolean =>
  device !== true && now - auth_time * 1000 <= FRESH_MS;

/**
 * Refuses a caller whose sign-in is too old for a sensitive call, or is that of a device.
 * @param now epoch milliseconds of the database's clock
 * @throws ServiceError reauthentication_required; forbidden for a device
 */
export const requireFresh = (caller: SignedIn, now: number): void => {
  if (isFresh(caller, now)) return;
  if (caller.device === true) throw new ServiceError('forbidden', DEVICE_REFUSAL);
  throw new ServiceError(
    'reauthentication_required',
    'this call needs a sign-in of the last 5 minutes; sign in again, then repeat it',
  );
};
