import { z } from 'zod';
import type { EventName, EventPayload } from '../contract/events.ts';
import { type Db, type Pool, sql } from '../db/pool.ts';
import type { GaugeCollector } from '../lib/metrics.ts';
import { activeTraceparent } from '../lib/trace.ts';
import { eventSubject, type Message, messageIdOfRecord } from './event.ts';

/**
 * The outbox. A message is committed with the change that it reports, and the relay publishes it
 * after the commit (relay.ts). Messages are never lost, but can repeat.
 */

/** A row as an inserting statement returns it, for `relay.dispatch`. */
export const outboxRow = z.object({
  outbox_id: z.bigint(),
  subject: z.string(),
  msg_id: z.string(),
  payload: z.unknown(),
  traceparent: z.string().nullable(),
});
export type OutboxRow = z.infer<typeof outboxRow>;

/** These rows as the JSON column `jsonb_agg(to_jsonb(...))` of a statement with other results. */
export const outboxColumn = z.array(
  outboxRow.extend({ outbox_id: z.union([z.number(), z.string()]).transform(BigInt) }),
);

/** The ids of the messages that a statement inserted. The caller has the other fields. */
export const insertedColumn = z.array(
  z.object({ outbox_id: z.union([z.number(), z.string()]).transform(BigInt), msg_id: z.string() }),
);

/**
 * The rows of the inserted messages.
 * @param messages messages with distinct ids
 */
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
 * Rows as one JSON parameter, for `insertOutbox` or for a statement that inserts them with its
 * change: ``insert into outbox (subject, msg_id, payload, traceparent) select * from
 * ${outboxValues([...])}``
 */
export const outboxValues = (messages: readonly Message[]) => {
  // Stored with the row, so that a later redelivery joins its trace.
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
 * Inserts messages within the caller's transaction. Pass the rows to `relay.dispatch` after the
 * commit.
 */
export const insertOutbox = (db: Db, messages: readonly Message[]): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    insert into outbox (subject, msg_id, payload, traceparent)
    select * from ${outboxValues(messages)}
    returning outbox_id, subject, msg_id, payload, traceparent`);

type Fragment = ReturnType<typeof sql.fragment>;

/**
 * Inserts those of the messages that belong to rows of the same statement.
 * @param matching the rest of the statement after `from … as message`: joins and a condition
 * @returns a statement that returns the id, the message id and the payload of each inserted row
 */
export const insertMatching = (messages: readonly Message[], matching: Fragment): Fragment => sql.fragment`
  insert into outbox (subject, msg_id, payload, traceparent)
  select message.* from ${outboxValues(messages)} ${matching}
  returning outbox_id, msg_id, payload`;

/**
 * A time in the format of payloads.
 * @param time an expression of type timestamptz
 */
export const isoText = (time: Fragment): Fragment =>
  sql.fragment`to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Inserts the events of changed rows by the same statement, for payloads with values that only
 * these rows have. A missing or unknown field does not compile.
 * @param from the rows, as in the clause `from`
 * @param fields an expression over these rows for each field; the fields of the identity are of
 *   type text
 * @param traceparent an expression for the trace
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

/** The count stops here, because a scrape must stay cheap. */
const COUNT_UP_TO = 10_000;
const Backlog = z.object({ messages: z.bigint(), oldest_age: z.number() });

/** Messages that are committed and not published yet. */
export const countOutbox = async (db: Db): Promise<number> =>
  Number(
    await db.oneFirst(sql.type(z.object({ messages: z.bigint() }))`select count(*) as messages from outbox`),
  );

/**
 * The number of unpublished messages and the age of the oldest. Published rows are deleted, so the
 * table is the backlog.
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
