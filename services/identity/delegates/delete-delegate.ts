import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { lockKeyOwner } from '../keys/store/keys.ts';
import { endDelegate } from './end-delegates.ts';
import { deleteDelegateRow } from './store.ts';

/**
 * DELETE /v1/delegates/:delegate_id. The handler calls no other service, because a key must be
 * revocable while settlement is unavailable.
 */
export const deleteDelegate =
  (deps: {
    pool: Pool;
    clock: Clock;
    relay: Outbox;
    sendMailsNow: () => void;
  }): Handler<typeof identity.operations.deleteDelegate> =>
  async ({ delegate_id }, { account_id }) => {
    const owner = { kind: 'delegate', id: delegate_id } as const;
    const outbox = await deps.pool.transaction(async (tx) => {
      // The lock comes first, so that no concurrent rotation mints a key.
      const locked = await lockKeyOwner(tx, owner, account_id);
      const row = locked === null ? null : await deleteDelegateRow(tx, account_id, delegate_id);
      if (row === null) throw notFound('delegate');
      return endDelegate(tx, deps, row);
    });
    deps.relay.dispatch(outbox);
    deps.sendMailsNow();
    return null;
  };
