import { z } from 'zod';
import type { AccountQuery, RecordEntry, References } from '../contract/operator.ts';
import { type Db, sql } from '../db/pool.ts';
import { isoTime } from '../lib/clock.ts';

/** What a service has recorded, and the names of what belongs to it, for the other services. */
export type FoundRecords = { related: References; entries: RecordEntry[] };
/**
 * Finds the records of a service by the names of objects. A name that it does not know is ignored.
 */
export type RecordFinder = (references: References) => Promise<FoundRecords>;

/** Reads the records of an account. */
export type AccountRecords = (query: AccountQuery) => Promise<RecordEntry[]>;

/** The finder of a service without records of payments. */
export const NOTHING_FOUND: RecordFinder = async () => ({ related: { ids: [], attempts: [] }, entries: [] });

type Detail = string | number | bigint | boolean | null | undefined;

/** The details without those that are unknown. An amount becomes a string of micro-units. */
const detailsOf = (details: Record<string, Detail>): RecordEntry['details'] =>
  Object.fromEntries(
    Object.entries(details).flatMap(([name, value]) => {
      if (value === null || value === undefined || value === '') return [];
      return [[name, typeof value === 'bigint' ? value.toString() : value]];
    }),
  );

/**
 * An entry, or none if it has not happened.
 * @param at epoch milliseconds; null: it has not happened
 */
export const entry = (
  at: number | null,
  object_id: string,
  what: string,
  details: Record<string, Detail> = {},
): RecordEntry[] => (at === null ? [] : [{ at: isoTime(at), object_id, what, details: detailsOf(details) }]);

/** The names without null, each once. */
export const namesOf = (names: readonly (string | null)[]): string[] => [
  ...new Set(names.filter((name) => name !== null)),
];

/** The text array of a statement. */
export const textArray = (values: readonly string[]) => sql.array([...values], 'text');

/**
 * The messages that are searched, because the outbox may be large while the bus is unavailable.
 */
const SEARCHED = 10_000;
const Message = z.object({
  id: z.string(),
  subject: z.string(),
  created_at: z.number(),
  reason: z.string().nullable(),
});

/** A message is published within milliseconds. A younger one does not wait. */
const WAITING_AFTER = '5 seconds';

/** The messages about objects that wait to be published, or for a decision in quarantine. */
export const listMessagesAbout = async (db: Db, ids: readonly string[]): Promise<RecordEntry[]> => {
  if (ids.length === 0) return [];
  const rows = await db.any(sql.type(Message)`
    with about as (
      select subject, created_at, payload::text as body, null as reason
      from (select subject, created_at, payload from outbox order by outbox_id desc limit ${SEARCHED}) as unpublished
      where created_at < app_now() - ${WAITING_AFTER}::interval
      union all
      select subject, created_at, encode(body, 'escape'), reason from quarantine where decided_at is null
    )
    select id, subject, created_at, reason from about join unnest(${textArray(ids)}) as id
      on position('"' || id || '"' in body) > 0
    order by created_at limit 100`);
  return rows.flatMap(({ id, subject, created_at, reason }) =>
    reason === null
      ? entry(created_at, id, 'message waits in the outbox', { subject })
      : entry(created_at, id, 'message waits in quarantine', { subject, reason: reason.slice(0, 200) }),
  );
};

const Id = z.object({ id: z.string() });
type Fragment = ReturnType<typeof sql.fragment>;

/**
 * The ids of the newest objects of an account. Ids begin with the time, so an index by account and
 * id is read from its end.
 * @param table with the columns `account`, `id` and `created_at`
 */
export const listNewestIds = async (
  db: Db,
  table: { name: Fragment; account: Fragment; id: Fragment },
  { account_id, since, limit }: AccountQuery,
): Promise<string[]> => {
  const rows = await db.any(sql.type(Id)`
    select ${table.id} as id from ${table.name}
    where ${table.account} = ${account_id} and created_at >= ${since ?? '-infinity'}::timestamptz
    order by ${table.id} desc limit ${limit}`);
  return rows.map(({ id }) => id);
};
