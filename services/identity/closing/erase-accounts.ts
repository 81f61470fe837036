import type { Pool } from '../../../shared/db/pool.ts';
import { event } from '../../../shared/events/event.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { eraseNextAccount } from '../accounts/store.ts';
import { eraseDelegateNames } from '../delegates/store.ts';
import { deleteKnownPayeesOf } from '../payments/store.ts';
import { deleteSecurityEventsOf, eraseNamesOfServicesOf } from '../security/store.ts';
import { eraseServiceNames } from '../services/store.ts';
import { deleteSessionsOf } from '../sessions/store/sessions.ts';

/**
 * Erases the personal data of closed accounts whose time has come (docs/retention.md). The event
 * makes the other services erase theirs. Each account is a transaction, and any number of replicas
 * may run it.
 */
export const eraseAccounts =
  ({ pool, relay }: { pool: Pool; relay: Outbox }) =>
  async (): Promise<void> => {
    const eraseNext = () =>
      pool.transaction(async (tx) => {
        const erased = await eraseNextAccount(tx);
        if (erased === null) return null;
        const { account_id, erased_at } = erased;
        await eraseServiceNames(tx, account_id);
        await eraseDelegateNames(tx, account_id);
        await deleteSessionsOf(tx, account_id);
        await deleteSecurityEventsOf(tx, account_id);
        await eraseNamesOfServicesOf(tx, account_id);
        await deleteKnownPayeesOf(tx, account_id);
        return insertOutbox(tx, [event('identity.accountErased', { account_id, at: isoTime(erased_at) })]);
      });
    for (let outbox = await eraseNext(); outbox !== null; outbox = await eraseNext()) relay.dispatch(outbox);
  };
