import { z } from 'zod';
import type { EventName, EventPayload } from '../contract/events.ts';
import { type Db, type Pool, sql } from '../db/pool.ts';
import type { GaugeCollector } from '../lib/metrics.ts';
import { activeTraceparent } from '../lib/trace.ts';
import { eventSubject, type Message, messageIdOfRecord } from './event.ts';

/**
 * The outbox: what must be published is committed with the change that it is about, and published
 * after the commit by the relay (relay.ts). Nothing is ever lost, only repeated.
 */

/** A row as a statement that inserts it returns it, for `relay.dispatch`. */
export const outboxRow = z.object({
  outbox_id: z.bigint(),
  subject: z.string(),
  msg_id: z.string(),
  payload: z.unknown(),
  traceparent: z.string().nullable(),
});
export type OutboxRow = z.infer<typeof outboxRow>;

/**
 * The same rows as the JSON column `jsonb_agg(to_jsonb(...))` of a statement that returns something
 * else besides.
 */
export const outboxColumn = z.array(
  outboxRow.extend({ outbox_id: z.union([z.number(), z.string()]).transform(BigInt) }),
);

/**
 * Which of its messages a statement has inserted: they need not come back whole from where they
 * were just sent.
 */
export const insertedColumn = z.array(
  z.object({ outbox_id: z.union([z.number(), z.string()]).transform(BigInt), msg_id: z.string() }),
);

/** The rows of those of the messages that were inserted. @param messages of different ids */
export const insertedRows = (
  messages: readonly Message[],
  sent: z.infer<typeof insertedColumn>,
): OutboxRow[] => {
  const byId = new Map(messages.map((message) => [message.msgId, message]));
  return sent.map(({ outbox_id, msg_id }) => {
    const { subject, payload, traceparent = activeTraceparent() } = byId.get(msg_id)!;
    return { outbox_id, subject, msg_id, payload, traceparent };
  });
};

/**
 * Rows as one JSON parameter, for `insertOutbox` or for a statement that inserts them with the
 * change they are about: ``insert into outbox (subject, msg_id, payload, traceparent) select * from
 * ${outboxValues([...])}``
 */
export const outboxValues = (messages: readonly Message[]) => {
  // Kept with the row, so that a redelivery hours later joins its trace.
  const trace = activeTraceparent();
  const rows = messages.map(({ subject, msgId, payload, traceparent = trace }) => ({
    subject,
    msg_id: msgId,
    payload,
    traceparent,
  }));
  return sql.fragment`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
    as message(subject text, msg_id text, payload jsonb, traceparent text)`;
};

/**
 * Inserts messages within the caller's transaction; hand the rows to `relay.dispatch` after the
 * commit.
 */
export const insertOutbox = (db: Db, messages: readonly Message[]): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    insert into outbox (subject, msg_id, payload, traceparent)
    select * from ${outboxValues(messages)}
    returning outbox_id, subject, msg_id, payload, traceparent`);

type Fragment = ReturnType<typeof sql.fragment>;

/** A time as payloads have it. @param time an expression of type timestamptz */
export const isoText = (time: Fragment): Fragment =>
  sql.fragment`to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * The events of rows that a statement changes, inserted by the same statement: for payloads that
 * only the changed rows know. A field that is missing, or that the contract does not have, does not
 * compile.
 * @param from the rows, as what stands behind `from`
 * @param fields an expression over those rows for each field; the identity's are text
 * @param traceparent the same of the trace
 * @returns a statement that returns rows of the outbox
 */
export const insertEvents = <N extends EventName>(
  name: N,
  {
    from,
    fields,
    traceparent,
  }: {
    from: Fragment;
    fields: { readonly [F in keyof EventPayload<N>]: Fragment };
    traceparent: Fragment;
  },
): Fragment => {
  const columns = Object.entries<Fragment>(fields).map(
    ([field, value]) => sql.fragment`${value} as ${sql.identifier([field])}`,
  );
  return sql.fragment`
  insert into outbox (subject, msg_id, payload, traceparent)
  select ${eventSubject(name)}, ${messageIdOfRecord(name)}, to_jsonb(event), ${traceparent}
  from ${from}, lateral (select ${sql.join(columns, sql.fragment`, `)}) as event
  returning outbox_id, subject, msg_id, payload, traceparent`;
};

/** More are not counted: whoever has so many knows enough, and a scrape must stay cheap. */
const COUNT_UP_TO = 10_000;
const Backlog = z.object({ messages: z.bigint(), oldest_age: z.number() });

/** Messages that are committed and not published yet. */
export const countOutbox = async (db: Db): Promise<number> =>
  Number(
    await db.oneFirst(sql.type(z.object({ messages: z.bigint() }))`select count(*) as messages from outbox`),
  );

/**
 * What is committed and not yet published, and since when. Published rows are deleted, so the table
 * is the backlog.
 */
export const outboxGauges = (pool: Pool): GaugeCollector => ({
  name: 'outbox',
  metrics: ['quittance_outbox_messages', 'quittance_outbox_oldest_age_seconds'],
  collect: async () => {
    const { messages, oldest_age } = await pool.one(sql.type(Backlog)`
      with backlog as (select created_at from outbox order by outbox_id limit ${COUNT_UP_TO})
      select count(*) as messages,
        coalesce(extract(epoch from app_now() - min(created_at)), 0)::float8 as oldest_age
      from backlog`);
    return [
      { metric: 'quittance_outbox_messages', value: Number(messages) },
      { metric: 'quittance_outbox_oldest_age_seconds', value: oldest_age },
    ];
  },
});
