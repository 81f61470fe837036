import { createHash } from 'node:crypto';
import { z } from 'zod';
import { EventType } from '../../../shared/contract/webhook.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { matching, type Page, pageBy } from '../../../shared/lists/page.ts';
import { addressEvents } from '../deliveries/store.ts';
import { isSubscribedTo } from '../endpoints/store.ts';
import type { NewEvent } from './model.ts';

const Row = z.object({
  event_id: z.string(),
  type: EventType,
  object_id: z.string(),
  data: z.record(z.string(), z.json()),
  created_at: z.number(),
});
export type EventRow = z.infer<typeof Row>;

const columns = sql.fragment`event_id, type, object_id, data, created_at`;

/** What distinguishes an event, in 16 bytes, so that the unique index is small. */
const hashOf = (accountId: string, eventKey: string): string =>
  createHash('sha256').update(`${accountId} ${eventKey}`).digest('hex').slice(0, 32);

const Inserted = z.object({ events: z.bigint(), deliveries: z.bigint() });

/**
 * Writes the events of accounts, each once, and addresses them to the endpoints that subscribe to
 * them, in one statement. A repeated event changes nothing, whether it comes days later or at the
 * same time.
 * @returns how many events are new, and how many deliveries are due now
 */
export const insertEvents = (db: Db, events: readonly NewEvent[]): Promise<z.infer<typeof Inserted>> => {
  const rows = events.map(({ event_key, ...event }) => ({
    event_id: newId('evt'),
    event_hash: hashOf(event.account_id, event_key),
    ...event,
  }));
  return db.one(sql.type(Inserted)`
    with inserted as (
      insert into events (event_id, account_id, type, object_id, data, event_hash)
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as input(event_id text, account_id text, type text, object_id text, data jsonb, event_hash uuid)
      -- In one order, so that two statements that write the same rows cannot deadlock.
      order by event_hash
      on conflict (event_hash) do nothing
      returning event_id, account_id, type
    ), addressed as (
      ${addressEvents(sql.fragment`select endpoint_id, event_id from inserted join endpoints using (account_id)
      where disabled_reason is null and ${isSubscribedTo(sql.fragment`inserted.type`)}`)}
      returning endpoint_id
    )
    select (select count(*) from inserted) as events, (select count(*) from addressed) as deliveries`);
};

/** Writes a test event and addresses it to one endpoint only. */
export const insertTestEvent = (db: Db, accountId: string, endpointId: string): Promise<EventRow> => {
  const eventId = newId('evt');
  return db.one(sql.type(Row)`
    with inserted as (
      insert into events (event_id, account_id, type, object_id, data, event_hash)
      values (${eventId}, ${accountId}, 'webhook.test', ${endpointId},
        jsonb_build_object('endpoint_id', ${endpointId}::text), ${hashOf(accountId, eventId)})
      returning ${columns}
    ), addressed as (
      ${addressEvents(sql.fragment`select ${endpointId}, event_id from inserted`)}
    )
    select * from inserted`);
};

/** The account's event. Null when there is none, or when it belongs to another account. */
export const findEvent = (db: Db, accountId: string, eventId: string): Promise<EventRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from events where event_id = ${eventId} and account_id = ${accountId}`);

/** A page of the account's events, newest first, and one more. */
export const listEventRows = (
  db: Db,
  {
    account_id,
    type,
    object_id,
  }: { account_id: string; type?: EventType | undefined; object_id?: string | undefined },
  page: Page,
): Promise<readonly EventRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from events
    where account_id = ${account_id} ${matching({ type, object_id })} ${pageBy('event_id', page)}`);

/** Longer than the stream stores an event (7 days), so that no repeat is taken for a new event. */
const PURGE_AFTER = '30 days';

/**
 * Deletes the old ones of the `limit` oldest events, with their deliveries. Ids sort by time, so no
 * index on the time is needed. Returns how many were deleted.
 */
export const purgeEvents = async (db: Db, limit: number): Promise<number> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    delete from events where event_id in (
      select event_id from (select event_id, created_at from events order by event_id limit ${limit}
        for update skip locked) as oldest
      where created_at <= app_now() - ${PURGE_AFTER}::interval)`);
  return rowCount;
};

/** Deletes all events of an account with their deliveries. */
export const deleteEventsOf = async (db: Db, accountId: string): Promise<void> => {
  await db.query(sql.typeAlias('void')`delete from events where account_id = ${accountId}`);
};
