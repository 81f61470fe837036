import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertNotice } from '../mails/store.ts';
import { findDecision, recordDecision } from './store/device_sign_ins.ts';

const statusOf = (allow: boolean) => (allow ? 'allowed' : 'denied');

/** POST /v1/auth/device/decide. A repeat of the same decision changes nothing. */
export const decideDeviceSignIn =
  ({ pool }: { pool: Pool }): Handler<typeof identity.operations.decideDeviceSignIn> =>
  async ({ user_code, allow }, { account_id }) => {
    const isDecidedNow = await pool.transaction(async (tx) => {
      if (!(await recordDecision(tx, { user_code, account_id, allow }))) return false;
      if (allow) await insertNotice(tx, { account_id, kind: 'device_allowed', details: {} });
      return true;
    });
    if (isDecidedNow) return { status: statusOf(allow) };
    const decided = await findDecision(pool, user_code, account_id);
    if (decided === null) throw notFound('code');
    if (decided !== allow) throw conflict(`the sign-in of the device is ${statusOf(decided)} already`);
    return { status: statusOf(allow) };
  };
