import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { findUndecidedSignIn } from './store/device_sign_ins.ts';

/** POST /v1/auth/device/read: what the page shows before a person decides. */
export const readDeviceSignIn =
  ({ pool }: { pool: Pool }): Handler<typeof identity.operations.readDeviceSignIn> =>
  async ({ user_code }) => {
    const found = await findUndecidedSignIn(pool, user_code);
    if (found === null) throw notFound('code');
    const { created_at, expires_at } = found;
    return { ...found, created_at: isoTime(created_at), expires_at: isoTime(expires_at) };
  };
