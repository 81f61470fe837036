import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { Deps } from '../deps.ts';
import { insertNotice } from '../mails/store.ts';
import { removePasskey } from './store/passkeys.ts';

/** DELETE /v1/accounts/me/passkeys/:passkey_id. The mailed link goes on signing in, so none is the last way in. */
export const deletePasskey =
  (deps: Deps): Handler<typeof identity.operations.deletePasskey> =>
  async ({ passkey_id }, { account_id }) => {
    await deps.pool.transaction(async (tx) => {
      const removed = await removePasskey(tx, account_id, passkey_id);
      if (removed === null) throw notFound('passkey');
      const at = isoTime(deps.clock());
      await insertNotice(tx, { account_id, kind: 'passkey_removed', details: { label: removed.label, at } });
    });
    deps.pokeMails();
    return null;
  };
