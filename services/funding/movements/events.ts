import type { Db } from '../../../shared/db/pool.ts';
import { event } from '../../../shared/events/event.ts';
import { insertOutbox, type OutboxRow } from '../../../shared/events/outbox.ts';
import { findMovement } from './store.ts';
import { showMovement } from './view.ts';

/**
 * Inserts the event `funding.moved` with the present state of an object's movement. Called in the
 * transaction that made the change. Nothing is inserted for an object that was never confirmed.
 */
export const insertMoved = async (tx: Db, objectId: string): Promise<readonly OutboxRow[]> => {
  const row = await findMovement(tx, objectId);
  return row === null ? [] : insertOutbox(tx, [event('funding.moved', showMovement(row))]);
};
