import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Db } from '../../../shared/db/pool.ts';
import { isDeviceSession } from './store/sessions.ts';

/**
 * Refuses the session of a device. It must not make another way into the account, which would stay
 * after its owner has revoked it.
 * @throws ServiceError forbidden
 */
export const requirePerson = async (db: Db, sessionId: string): Promise<void> => {
  if (!(await isDeviceSession(db, sessionId))) return;
  throw new ServiceError(
    'forbidden',
    'a device cannot do this; do it in the console, signed in by mail or with a passkey',
  );
};
