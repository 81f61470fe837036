import { accountFrozen, ServiceError } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import { insertNotice } from '../mails/store.ts';
import { issueSession, type SessionIssuer } from '../sessions/issue-session.ts';
import { tokenHash } from '../sessions/model/tokens.ts';
import { insertSession, type SessionRow } from '../sessions/store/sessions.ts';
import { consumeDeviceSignIn, findDeviceSignIn } from './store/device_sign_ins.ts';

/** One message for an unknown, an expired and a used code. */
const invalidCode = () =>
  new ServiceError('unauthorized', 'the sign-in of the device has ended; begin a new one');

const openSession = (pool: Pool, deviceHash: string, now: number): Promise<SessionRow | null> =>
  pool.transaction(async (tx) => {
    const used = await consumeDeviceSignIn(tx, deviceHash);
    if (used === null) return null;
    const { account_id, client_name } = used;
    // The account may have been frozen since the person confirmed. The error rolls the use back.
    if (used.frozen) throw accountFrozen();
    const details = { client_name, at: isoTime(now) };
    await insertNotice(tx, { account_id, kind: 'device_signed_in', details });
    return insertSession(tx, { session_id: newId('ses'), account_id, amr: ['device'], client_name });
  });

/**
 * POST /v1/auth/device/token: the session of a device that a person has confirmed, once. An answer
 * that is lost is not repeated, because a stolen code would get a session too.
 */
export const pollDeviceSignIn =
  (
    deps: { pool: Pool; sendMailsNow: () => void } & SessionIssuer,
  ): Handler<typeof identity.operations.pollDeviceSignIn> =>
  async ({ device_code }) => {
    const deviceHash = tokenHash(device_code);
    const session = await openSession(deps.pool, deviceHash, deps.clock());
    if (session !== null) {
      deps.sendMailsNow();
      return { status: 'authorized', ...(await issueSession(deps, session)) };
    }
    const state = await findDeviceSignIn(deps.pool, deviceHash);
    if (state === null || state.used) throw invalidCode();
    if (state.denied) throw new ServiceError('forbidden', 'the sign-in of the device was denied');
    return { status: 'pending' };
  };
