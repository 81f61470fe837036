import { funding, type Moved } from '../../shared/contract/funding.ts';
import { subjects } from '../../shared/contract/service.ts';
import { insertOutbox, type OutboxRow } from '../../shared/db/outbox.ts';
import type { Db } from '../../shared/db/pool.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { formatMicro } from '../../shared/lib/micro.ts';
import { type MovedRow, movedBy } from './store/moved.ts';

/** A transfer as other services are told of it. */
export const showMoved = (row: MovedRow): Moved => ({
  ...row,
  amount: formatMicro(row.amount),
  created_at: isoTime(row.created_at),
});

/**
 * Puts the fact of where an object's transfer stands into the outbox; call it in the transaction that moved it. Nothing
 * is told of what never was on the chain. A fork may have it told again of another transaction, so that is in the id.
 */
export const tellMoved = async (tx: Db, objectId: string): Promise<readonly OutboxRow[]> => {
  const row = await movedBy(tx, objectId);
  if (row === null) return [];
  const payload = showMoved(row);
  const msgId = `moved:${payload.object_id}:${payload.status}:${payload.tx_hash}`;
  return insertOutbox(tx, [{ subject: subjects.event(funding.name, 'moved'), msgId, payload }]);
};
