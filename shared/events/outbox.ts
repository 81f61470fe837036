import { z } from 'zod';
import type { EventName, EventPayload } from '../contract/events.ts';
import { EVENT_PREFIX } from '../contract/service.ts';
import { type Db, type Pool, sql } from '../db/pool.ts';
import { isoTime } from '../lib/clock.ts';
import type { GaugeCollector } from '../lib/telemetry/metrics.ts';
import { activeTraceparent } from '../lib/telemetry/trace.ts';
import { eventSubject, type Message, messageIdOfRecord } from './event.ts';
import { eventList, listOf, MAX_EVENTS, type Part } from './event-list.ts';

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
export type OutboxRow = z.infer<typeof outboxRow> & {
  /** To whom it is handed over. It is published only if that fails for one of them. */
  parts?: readonly Part[];
};

/** These rows as the JSON column `jsonb_agg(to_jsonb(...))` of a statement with other results. */
export const outboxColumn = z.array(
  outboxRow.extend({ outbox_id: z.union([z.number(), z.string()]).transform(BigInt) }),
);

/**
 * The rows that a statement inserted, each with the positions of its messages in the statement's
 * input. The caller has the messages.
 */
export const insertedColumn = z.array(
  z.object({
    outbox_id: z.union([z.number(), z.string()]).transform(BigInt),
    positions: z.array(z.number()),
  }),
);

/**
 * The rows of the inserted messages.
 * @param messages those of the statement, in its order
 */
export const insertedRows = (
  messages: readonly Message[],
  sent: z.infer<typeof insertedColumn>,
): OutboxRow[] =>
  sent.map(({ outbox_id, positions }) => {
    const rows = positions.map((position) => {
      const { subject, msgId, payload, traceparent = activeTraceparent(), receiver } = messages[position]!;
      const row = { outbox_id, subject, msg_id: msgId, payload, traceparent };
      return receiver === undefined ? row : { ...row, parts: [{ receiver, entries: eventList([row]) }] };
    });
    const [first] = rows as [OutboxRow, ...OutboxRow[]];
    return rows.length === 1 ? first : { ...first, ...listOf(rows), outbox_id };
  });

/**
 * Messages as one JSON parameter, with the columns that `insertMessages` needs.
 */
export const outboxValues = (messages: readonly Message[]) => {
  // Stored with the row, so that a later redelivery joins its trace.
  const trace = activeTraceparent();
  const rows = messages.map(({ subject, msgId, payload, traceparent = trace }, position) => ({
    position,
    subject,
    msg_id: msgId,
    payload,
    traceparent,
  }));
  return sql.fragment`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
    as message(position integer, subject text, msg_id text, payload jsonb, traceparent text)`;
};

type Fragment = ReturnType<typeof sql.fragment>;

/**
 * The insert of every message.
 * @param messages a query for subject, msg_id, payload and traceparent
 * @returns a statement that returns rows of the outbox
 */
export const insertMessages = (messages: Fragment): Fragment => sql.fragment`
  insert into outbox (subject, msg_id, payload, traceparent)
  ${messages}
  returning outbox_id, subject, msg_id, payload, traceparent`;

const isEvent = sql.fragment`subject like ${sql.literalValue(`${EVENT_PREFIX}%`)}`;

/**
 * One row for the events of one subject, as a list (event-list.ts), and one for each job, because a
 * job is executed, repeated and acknowledged alone. A statement that serves many payments then
 * inserts, and later deletes, few rows.
 * @param messages a query for position, subject, msg_id, payload and traceparent
 * @returns a query for these columns of each row, and `positions`
 */
const inRows = (messages: Fragment): Fragment => sql.fragment`
  select subject, min(position) as position, array_agg(position order by position) as positions,
    (array_agg(msg_id order by position))[1] || case when count(*) = 1 then '' else '+' || count(*) - 1 end as msg_id,
    case when count(*) = 1 then (array_agg(payload))[1] else jsonb_agg(case when traceparent is null
        then jsonb_build_object('payload', payload)
        else jsonb_build_object('payload', payload, 'traceparent', traceparent) end order by position) end as payload,
    case when count(*) = 1 then min(traceparent) end as traceparent
  from (select *, row_number() over (partition by subject order by position) - 1 as nth from (${messages}) as each)
    as numbered
  group by subject, case when ${isEvent} then (nth / ${sql.literalValue(String(MAX_EVENTS))})::text else msg_id end`;

/**
 * The inserts of events of one subject by one statement, as few rows.
 * @param messages a query for position, subject, msg_id, payload and traceparent
 * @returns a statement that returns rows of the outbox
 */
export const insertEventLists = (messages: Fragment): Fragment =>
  insertMessages(
    sql.fragment`select subject, msg_id, payload, traceparent from (${inRows(messages)}) as in_rows`,
  );

/**
 * The CTEs `sent`, which inserts those of the messages that belong to rows of the same statement,
 * and `published`, which has `outbox` for the first of the rows that share a message: what was
 * inserted, as `insertedColumn` reads it.
 * @param key the field of the payloads that identifies the row, and the column of `published`
 * @param matching the rest of the query after `from … as message`: joins and a condition
 */
export const publishMatching = (messages: readonly Message[], key: string, matching: Fragment): Fragment => {
  const keyOf = sql.fragment`payload ->> ${sql.literalValue(key)}`;
  return sql.fragment`chosen as (
      select message.* from ${outboxValues(messages)} ${matching}
    ), in_rows as (${inRows(sql.fragment`select * from chosen`)}
    ), sent as (
      insert into outbox (subject, msg_id, payload, traceparent)
      select subject, msg_id, payload, traceparent from in_rows
      returning outbox_id, msg_id
    ), published as (
      select chosen.${keyOf} as ${sql.identifier([key])},
        jsonb_agg(jsonb_build_object('outbox_id', outbox_id, 'positions', positions)) as outbox
      from sent join in_rows using (msg_id) join chosen using (position) group by chosen.${keyOf}
    )`;
};

/**
 * Inserts messages within the caller's transaction. Pass the rows to `relay.dispatch` after the
 * commit.
 */
export const insertOutbox = (db: Db, messages: readonly Message[]): Promise<readonly OutboxRow[]> =>
  db.any(
    sql.type(outboxRow)`${insertMessages(sql.fragment`
    select subject, msg_id, payload, traceparent from ${outboxValues(messages)}`)}`,
  );

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
  return insertMessages(sql.fragment`
  select ${eventSubject(name)}, ${messageIdOfRecord(name)}, to_jsonb(event), ${traceparent}
  from ${from}, lateral (select ${sql.join(columns, sql.fragment`, `)}) as event`);
};

/** The count stops here, because a scrape must stay cheap. */
const COUNT_UP_TO = 10_000;
const Backlog = z.object({ messages: z.bigint(), oldest_age: z.number() });

/** Messages that are committed and not published yet. */
export const countOutbox = async (db: Db): Promise<number> =>
  Number(
    await db.oneFirst(sql.type(z.object({ messages: z.bigint() }))`select count(*) as messages from outbox`),
  );

const Unsent = z.object({
  subject: z.string(),
  messages: z.bigint().transform(Number),
  oldest_at: z.number().transform(isoTime),
});

/** The oldest of these messages by their subject, the oldest first. */
export const listUnsent = (db: Db) =>
  db.any(sql.type(Unsent)`
    with backlog as (select subject, created_at from outbox order by outbox_id limit ${COUNT_UP_TO})
    select subject, count(*) as messages, min(created_at) as oldest_at from backlog
    group by subject order by oldest_at`);

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
