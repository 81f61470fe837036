import type { Records } from '../../../shared/boot.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { event } from '../../../shared/events/event.ts';
import { insertOutbox, type OutboxRow } from '../../../shared/events/outbox.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { updateFrozenAt } from '../accounts/store.ts';
import { updateAccountStatus } from './update-account-status.ts';

/**
 * Internal: freezes or unfreezes an account. Gateways apply it when they check a credential the
 * next time without their cache, within 1 s. The event ends what the account has authorized.
 */
export const setFrozen =
  ({ pool, relay }: Pick<Records, 'pool' | 'relay'>): Handler<typeof identity.internal.setFrozen> =>
  async ({ account_id, frozen, ...operator }) => {
    let outbox: readonly OutboxRow[] = [];
    const updated = await updateAccountStatus(pool, account_id, operator, {
      action: frozen ? 'account.freeze' : 'account.unfreeze',
      isSo: (row) => (row.frozen_at !== null) === frozen,
      change: async (tx) => {
        const row = await updateFrozenAt(tx, account_id, frozen);
        if (row.frozen_at !== null)
          outbox = await insertOutbox(tx, [
            event('identity.accountFrozen', { account_id, at: isoTime(row.frozen_at) }),
          ]);
        return row;
      },
    });
    relay.dispatch(outbox);
    return updated;
  };
