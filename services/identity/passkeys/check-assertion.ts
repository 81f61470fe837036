import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Db, Pool } from '../../../shared/db/pool.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { insertNotice } from '../mails/store.ts';
import { findPasskey, type PasskeyRow, recordPasskeyUse } from './store/passkeys.ts';
import { type RelyingParty, userHandle, verifyAssertion } from './webauthn.ts';

type Assertion = z.infer<(typeof identity.operations.passkeyLoginVerify)['input']>['response'];
export type CheckDeps = {
  pool: Pool;
  logger: Logger;
  environment: Environment;
  rp: RelyingParty;
  clock: Clock;
  sendMailsNow: () => void;
};

/** The passkey that has signed a challenge, with the counter that the use reports. */
type Signed = {
  passkey: PasskeyRow;
  use: { passkey_id: string; counter: number; backed_up: boolean };
};

/**
 * The passkey that has signed this challenge, or null with the reason in the log.
 * @param isHandleOptional true where the options named the credentials: an authenticator may then
 *   omit the user handle (WebAuthn, 7.2). A handle that it sends must be that of the account.
 */
export const checkAssertion = async (
  deps: CheckDeps,
  response: Assertion,
  { challenge, isHandleOptional = false }: { challenge: string; isHandleOptional?: boolean },
): Promise<Signed | null> => {
  const passkey = await findPasskey(deps.pool, response.id);
  if (passkey === null) return null;
  const { account_id, passkey_id } = passkey;
  const result = await verifyAssertion(deps, response, challenge, passkey);
  const handle = response.response.userHandle ?? null;
  // The user handle of a discoverable credential must be that of its account in this environment.
  const isHandleRight =
    handle === userHandle(deps.environment, account_id).toString('base64url') ||
    (handle === null && isHandleOptional);
  if ('refused' in result || !isHandleRight) {
    const reason = 'refused' in result ? result.refused : 'the user handle is of another account';
    deps.logger.info({ passkey_id, reason }, 'refused the answer of a passkey');
    return null;
  }
  return { passkey, use: { passkey_id, counter: result.counter, backed_up: result.backedUp } };
};

/**
 * What the owner of a passkey is told whose counter went back. The signature was right, so whoever
 * gets this has the passkey or a copy of it.
 */
export const COUNTER_WENT_BACK =
  'the counter of this passkey went back, as that of a copied passkey does; sign in by mail, delete this passkey and register a new one';

/**
 * Records the use of a passkey and runs `work` in the same transaction. Null when the counter went
 * back, as that of a copied passkey does. The owner is then notified.
 */
export const recordUse = async <T>(
  deps: CheckDeps,
  { passkey, use }: Signed,
  work: (tx: Db) => Promise<T>,
): Promise<T | null> => {
  const { account_id, passkey_id, label } = passkey;
  const { result, isRecorded } = await deps.pool.transaction(async (tx) => {
    if (await recordPasskeyUse(tx, use)) return { result: await work(tx), isRecorded: true };
    const details = { label, at: isoTime(deps.clock()) };
    await insertNotice(tx, { account_id, kind: 'passkey_copied', details });
    return { result: null, isRecorded: false };
  });
  if (isRecorded) return result;
  deps.logger.warn({ passkey_id }, 'refused a passkey because its counter went back, and notified the owner');
  deps.sendMailsNow();
  return null;
};
