import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import { insertNotice } from '../mails/store.ts';
import { deletePasskeyRow } from './store/passkeys.ts';

/**
 * DELETE /v1/accounts/me/passkeys/:passkey_id. The last passkey may be deleted, because the mailed
 * link always signs in.
 */
export const deletePasskey =
  (deps: {
    pool: Pool;
    clock: Clock;
    sendMailsNow: () => void;
  }): Handler<typeof identity.operations.deletePasskey> =>
  async ({ passkey_id }, { account_id }) => {
    await deps.pool.transaction(async (tx) => {
      const deleted = await deletePasskeyRow(tx, account_id, passkey_id);
      if (deleted === null) throw notFound('passkey');
      const at = isoTime(deps.clock());
      await insertNotice(tx, { account_id, kind: 'passkey_removed', details: { label: deleted.label, at } });
    });
    deps.sendMailsNow();
    return null;
  };
