import { type Db, sql } from '../../../../shared/db/pool.ts';
import type { Message } from '../../../../shared/events/event.ts';
import {
  insertEventLists,
  type OutboxRow,
  outboxRow,
  outboxValues,
} from '../../../../shared/events/outbox.ts';
import { state } from './conditions.ts';

/** Inserts the events `settlement.accepted` of those settlements that are still pending. */
export const insertAcceptedEvents = (db: Db, events: readonly Message[]): Promise<readonly OutboxRow[]> =>
  db.any(
    sql.type(outboxRow)`${insertEventLists(sql.fragment`select message.* from ${outboxValues(events)}
    join settlements on settlement_id = payload ->> 'settlement_id' where ${state.is('pending')}`)}`,
  );
