import { z } from 'zod';
import { EventType } from '../../../shared/contract/webhook.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { matching, type Page, pageBy } from '../../../shared/lists/page.ts';
import { wants } from '../endpoints/store.ts';
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

const Written = z.object({ events: z.bigint(), deliveries: z.bigint() });

/**
 * Writes what accounts are told of facts, each once, and addresses it to the endpoints that ask for it, in one statement:
 * a fact that comes again, after days or at the same time, changes nothing.
 * @returns how many are new, and how many deliveries are due now
 */
export const insertEvents = (db: Db, events: readonly NewEvent[]): Promise<z.infer<typeof Written>> => {
  const rows = events.map((event) => ({ event_id: newId('evt'), ...event }));
  return db.one(sql.type(Written)`
    with fresh as (
      insert into events (event_id, account_id, type, object_id, data, fact_key)
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as told(event_id text, account_id text, type text, object_id text, data jsonb, fact_key text)
      -- In one order, so that two that write the same rows never wait for one another in a ring.
      order by account_id, fact_key
      on conflict (account_id, fact_key) do nothing
      returning event_id, account_id, type
    ), addressed as (
      insert into deliveries (endpoint_id, event_id)
      select endpoint_id, event_id from fresh join endpoints using (account_id)
      where disabled_reason is null and ${wants(sql.fragment`fresh.type`)}
      returning endpoint_id
    )
    select (select count(*) from fresh) as events, (select count(*) from addressed) as deliveries`);
};

/** Writes a test event and addresses it to one endpoint alone. */
export const insertTestEvent = (db: Db, accountId: string, endpointId: string): Promise<EventRow> => {
  const eventId = newId('evt');
  return db.one(sql.type(Row)`
    with fresh as (
      insert into events (event_id, account_id, type, object_id, data, fact_key)
      values (${eventId}, ${accountId}, 'webhook.test', ${endpointId},
        jsonb_build_object('endpoint_id', ${endpointId}::text), ${eventId})
      returning ${columns}
    ), addressed as (
      insert into deliveries (endpoint_id, event_id) select ${endpointId}, event_id from fresh
    )
    select * from fresh`);
};

/** The account's event, or null: another's does not exist for it. */
export const findEvent = (db: Db, accountId: string, eventId: string): Promise<EventRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from events where event_id = ${eventId} and account_id = ${accountId}`);

/** A page of the account's events, newest first, and one more. */
export const listEvents = (
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

/** Longer than the stream keeps a fact (7 days), so that no repeat is taken for the first. */
const KEEP = '30 days';

/** Removes events that are over, with their deliveries; returns how many, `limit` at most. */
export const purgeEvents = async (db: Db, limit: number): Promise<number> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    delete from events where event_id in (
      select event_id from events where created_at <= app_now() - ${KEEP}::interval
      order by created_at limit ${limit} for update skip locked)`);
  return rowCount;
};
