import { createHash } from 'node:crypto';
import { z } from 'zod';
import { EventType } from '../../../shared/contract/webhook.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { matching, type Page, pageBy } from '../../../shared/lists/page.ts';
import { addressEvents, dataFor, isEventOf } from '../deliveries/store.ts';
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

type Fragment = ReturnType<typeof sql.fragment>;

/** What distinguishes an event, in 16 bytes, so that the unique index is small. */
const hashOf = (accountIds: readonly string[], eventKey: string): string =>
  createHash('sha256')
    .update([...accountIds, eventKey].join(' '))
    .digest('hex')
    .slice(0, 32);

const Inserted = z.object({ events: z.bigint(), deliveries: z.bigint() });

const rowOf = ({ event_key, parties, ...event }: NewEvent) => {
  const [first, other] = parties;
  return {
    ...event,
    event_id: newId('evt'),
    ...first,
    other_account_id: other?.account_id ?? null,
    other_own: other?.own ?? null,
    event_hash: hashOf(
      parties.map(({ account_id }) => account_id),
      event_key,
    ),
  };
};

/**
 * Writes the events of accounts, each once, and addresses them to the endpoints that subscribe to
 * them, in one statement. A repeated event changes nothing, whether it comes days later or at the
 * same time.
 * @returns how many events are new, and how many deliveries are due now
 */
export const insertEvents = (db: Db, events: readonly NewEvent[]): Promise<z.infer<typeof Inserted>> =>
  db.one(sql.type(Inserted)`
    with inserted as (
      insert into events (event_id, type, object_id, data, account_id, own, other_account_id, other_own, event_hash)
      select * from jsonb_to_recordset(${JSON.stringify(events.map(rowOf))}::jsonb)
        as input(event_id text, type text, object_id text, data jsonb, account_id text, own jsonb,
          other_account_id text, other_own jsonb, event_hash uuid)
      -- In one order, so that two statements that write the same rows cannot deadlock.
      order by object_id, event_hash
      on conflict (object_id, event_hash) do nothing
      returning event_id, type, array[account_id, other_account_id] as parties
    ), addressed as (
      ${addressEvents(sql.fragment`select endpoint_id, event_id
      from inserted cross join lateral unnest(parties) as party(account_id) join endpoints using (account_id)
      where disabled_reason is null and ${isSubscribedTo(sql.fragment`inserted.type`)}`)}
      returning endpoint_id
    )
    select (select count(*) from inserted) as events, (select count(*) from addressed) as deliveries`);

/** Writes a test event and addresses it to one endpoint only. */
export const insertTestEvent = (db: Db, accountId: string, endpointId: string): Promise<EventRow> => {
  const eventId = newId('evt');
  return db.one(sql.type(Row)`
    with inserted as (
      insert into events (event_id, type, object_id, data, account_id, own, event_hash)
      values (${eventId}, 'webhook.test', ${endpointId}, jsonb_build_object('endpoint_id', ${endpointId}::text),
        ${accountId}, '{}', ${hashOf([accountId], eventId)})
      returning event_id, type, object_id, data, created_at
    ), addressed as (
      ${addressEvents(sql.fragment`select ${endpointId}, event_id from inserted`)}
    )
    select * from inserted`);
};

/** The account's event. Null when there is none, or when it belongs to another account. */
export const findEvent = (db: Db, accountId: string, eventId: string): Promise<EventRow | null> => {
  const account = sql.fragment`${accountId}`;
  return db.maybeOne(sql.type(Row)`
    select event_id, type, object_id, ${dataFor(account)}, created_at from events
    where event_id = ${eventId} and ${isEventOf(account)}`);
};

/**
 * A page of the account's events, newest first, and one more. It merges the scans of two indexes.
 */
export const listEventRows = (
  db: Db,
  {
    account_id,
    type,
    object_id,
  }: { account_id: string; type?: EventType | undefined; object_id?: string | undefined },
  page: Page,
): Promise<readonly EventRow[]> => {
  const eventsAs = (account: Fragment, own: Fragment) => sql.fragment`(
      select event_id, type, object_id, data || ${own} as data, created_at from events
      where ${account} = ${account_id} ${matching({ type, object_id })} ${pageBy('event_id', page)})`;
  return db.any(sql.type(Row)`
    select * from (${eventsAs(sql.fragment`account_id`, sql.fragment`own`)}
      union all ${eventsAs(sql.fragment`other_account_id`, sql.fragment`other_own`)}) as of_account
    order by event_id desc limit ${page.limit + 1}`);
};

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

/**
 * Deletes all events of an account with their deliveries. An event that another account has too
 * stays with that account.
 */
export const deleteEventsOf = async (db: Db, accountId: string): Promise<void> => {
  await db.query(sql.typeAlias('void')`
    with handed_over as (
      update events set account_id = other_account_id, own = other_own, other_account_id = null, other_own = null
      where account_id = ${accountId} and other_account_id is not null
    ), left_out as (
      update events set other_account_id = null, other_own = null where other_account_id = ${accountId}
    )
    delete from events where account_id = ${accountId} and other_account_id is null`);
};
