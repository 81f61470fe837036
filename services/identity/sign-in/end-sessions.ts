import type { Db } from '../../../shared/db/pool.ts';
import type { OutboxRow } from '../../../shared/events/outbox.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { endDelegatesOfSessions } from '../delegates/end-delegates.ts';
import { revokeSessions } from '../sessions/store/sessions.ts';

/**
 * Ends sign-ins of the account for a person who does not trust them, with the delegates that they
 * made. Otherwise a thief would keep those. A sign-in that has ended by itself keeps its delegates
 * until this is called for it. Call it within a transaction and pass the returned events to
 * `relay.dispatch` after the commit.
 */
export const endSessions = async (
  tx: Db,
  deps: { clock: Clock },
  accountId: string,
  sessionIds: readonly string[],
): Promise<readonly OutboxRow[]> => {
  const revoked = await revokeSessions(tx, accountId, sessionIds);
  return [...revoked, ...(await endDelegatesOfSessions(tx, deps, accountId, sessionIds))];
};
