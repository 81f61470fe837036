import { z } from 'zod';
import { durables, STREAMS } from '../bus/topology.ts';
import { EVENT_DAYS, type listSentEvents as operation } from '../contract/sent-events.ts';
import type { BusUser, Handler } from '../contract/service.ts';
import { type Db, type Pool, sql } from '../db/pool.ts';
import { MAX_EVENTS } from './event-list.ts';

/**
 * The events that this service has published, as they were. Their subscribers read the stream, and
 * these rows only if the stream may have lost something (catch-up.ts).
 */

const PURGED_AT_ONCE = 1000;

/** What each service reads from the stream. */
const READ = durables().filter(({ stream }) => stream === STREAMS.events);
/** Events that nobody reads from the stream have nobody who could miss one. */
const READ_BY_SOMEBODY = [...new Set(READ.map(({ filter }) => filter))];

/** What a service reads of the events of another one, and may read again. */
const subjectsReadBy = (reader: BusUser): string[] =>
  READ.filter(({ service }) => service === reader).map(({ filter }) => filter);

/**
 * Deletes rows of the outbox, and keeps the published events among them, up to 50 of one subject as
 * one row.
 * @param published those that the stream has; the others were handed over
 */
export const clearOutbox = (
  db: Db,
  outboxIds: readonly bigint[],
  published: readonly bigint[] = outboxIds,
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with sent as (
      delete from outbox where outbox_id = any(${sql.array(outboxIds, 'int8')})
      returning outbox_id, subject, payload
    ), each as (
      select subject, entry.payload,
        (row_number() over (partition by subject order by outbox_id, entry.nth) - 1) / ${MAX_EVENTS}::int as part,
        row_number() over (order by outbox_id, entry.nth) as nth
      from sent cross join lateral (
        select payload, 1 as nth where jsonb_typeof(payload) <> 'array'
        union all
        select one.entry -> 'payload', one.nth
        from jsonb_array_elements(case when jsonb_typeof(payload) = 'array' then payload else '[]' end)
          with ordinality as one(entry, nth)
      ) as entry
      where subject = any(${sql.array(READ_BY_SOMEBODY, 'text')}) and outbox_id = any(${sql.array(published, 'int8')})
    )
    insert into sent_events (subject, payloads)
    select subject, case when count(*) = 1 then (array_agg(payload))[1] else jsonb_agg(payload order by nth) end
    from each group by subject, part order by min(nth)`);

const Row = z.object({ sent_id: z.bigint(), subject: z.string(), payloads: z.unknown() });
/** The bytes of a page in the database. A message of the bus has at most a megabyte. */
const PAGE_BYTES = 200_000;
const PAGE_ROWS = 100;

const listSent = (
  db: Db,
  { subjects, since, after }: { subjects: readonly string[]; since: string; after: string | null },
) =>
  db.any(sql.type(Row)`
    select sent_id, subject, payloads from (
      select sent_id, subject, payloads, row_number() over oldest_first as nth,
        sum(octet_length(payloads::text)) over oldest_first as bytes
      from (
        select sent_id, subject, payloads from sent_events
        where ${
          after === null
            ? sql.fragment`sent_id >= (select min(sent_id) from sent_events where sent_at >= ${since}::timestamptz)`
            : sql.fragment`sent_id > ${after}::bigint`
        } and subject = any(${sql.array(subjects, 'text')})
        order by sent_id limit ${PAGE_ROWS}
      ) as next window oldest_first as (order by sent_id)
    ) as page where nth = 1 or bytes <= ${PAGE_BYTES} order by sent_id`);

/**
 * int.<service>.listSentEvents. Each caller gets what its consumers read from the stream and
 * nothing else: the events of others may hold what it must not know.
 */
export const listSentEvents =
  (pool: Pool): Handler<ReturnType<typeof operation>> =>
  async ({ caller, ...query }) => {
    const rows = await listSent(pool, { ...query, subjects: subjectsReadBy(caller) });
    return {
      events: rows.flatMap(({ subject, payloads }) =>
        (Array.isArray(payloads) ? payloads : [payloads]).map((payload: unknown) => ({ subject, payload })),
      ),
      next: rows.length === 0 ? null : String(rows.at(-1)!.sent_id),
    };
  };

/** Deletes the events that the stream no longer keeps either. */
export const purgeSent = (pool: Pool) => async (): Promise<boolean> => {
  const { rowCount } = await pool.query(sql.typeAlias('void')`
    delete from sent_events where sent_id in (
      select sent_id from sent_events where sent_at < app_now() - ${EVENT_DAYS} * interval '1 day'
      order by sent_at limit ${PURGED_AT_ONCE} for update skip locked)`);
  return rowCount === PURGED_AT_ONCE;
};
