import type { Db } from '../../../shared/db/pool.ts';
import { insertOutbox, type OutboxRow } from '../../../shared/events/outbox.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { revokeAllKeys } from '../keys/revoke-all-keys.ts';
import { delegateChanged } from './events.ts';
import { type DelegateRow, deleteDelegatesOfSessions } from './store.ts';

/** Revokes the keys of a delegate that the transaction has deleted, and reports its end. */
export const endDelegate = async (
  tx: Db,
  deps: { clock: Clock },
  row: DelegateRow,
): Promise<readonly OutboxRow[]> => {
  const revoked = await revokeAllKeys(tx, deps, { kind: 'delegate', id: row.delegate_id }, row);
  return [...revoked, ...(await insertOutbox(tx, [delegateChanged(deps, 'deleted', row)]))];
};

/**
 * Ends the delegates that sign-ins of the account have made. Call it after the sign-ins are locked,
 * so that they make no other ones.
 */
export const endDelegatesOfSessions = async (
  tx: Db,
  deps: { clock: Clock },
  accountId: string,
  sessionIds: readonly string[],
): Promise<readonly OutboxRow[]> => {
  const outbox: OutboxRow[] = [];
  for (const row of await deleteDelegatesOfSessions(tx, accountId, sessionIds))
    outbox.push(...(await endDelegate(tx, deps, row)));
  return outbox;
};
