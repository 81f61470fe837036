import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Deps } from '../deps.ts';
import { endAllKeys } from '../keys/replace-key.ts';
import { lockKeyOwner } from '../keys/store/keys.ts';
import { delegateChanged } from './events.ts';
import { markDelegateDeleted } from './store.ts';

/** DELETE /v1/delegates/:delegate_id. Asks nobody else: a key must stop also while settlement is away. */
export const deleteDelegate =
  (deps: Deps): Handler<typeof identity.operations.deleteDelegate> =>
  async ({ delegate_id }, { account_id }) => {
    const owner = { kind: 'delegate', id: delegate_id } as const;
    const outbox = await deps.pool.transaction(async (tx) => {
      // Locked first, so that no rotation mints a key beside it.
      const locked = await lockKeyOwner(tx, owner, account_id);
      const row = locked === null ? null : await markDelegateDeleted(tx, account_id, delegate_id);
      if (row === null) throw notFound('delegate');
      const ended = await endAllKeys(tx, deps, owner, row);
      return [...ended, ...(await insertOutbox(tx, [delegateChanged(deps, 'deleted', row)]))];
    });
    deps.relay.dispatch(outbox);
    deps.pokeMails();
    return null;
  };
