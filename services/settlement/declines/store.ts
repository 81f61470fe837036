import { z } from 'zod';
import { Decline } from '../../../shared/contract/settlement.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { eventSubject, type Message } from '../../../shared/events/event.ts';
import {
  insertedColumn,
  insertedRows,
  type OutboxRow,
  publishMatching,
} from '../../../shared/events/outbox.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { matching, type Page, pageBy } from '../../../shared/lists/page.ts';

const Row = z.object({
  decline_id: z.string(),
  account_id: z.string(),
  delegate_id: z.string().nullable(),
  payment_attempt_id: z.string(),
  quote_id: z.string(),
  vendor_account_id: z.string(),
  service_id: z.string(),
  service_name: z.string(),
  /** What was to be bought: a title, or an address. */
  item: z.string().nullable(),
  amount: z.bigint(),
  reason: Decline.required().shape.reason,
  code: Decline.shape.code,
  limit_micro: z.bigint().nullable(),
  left_micro: z.bigint().nullable(),
  resets_at: z.number().nullable(),
  created_at: z.number(),
});
export type DeclineRow = z.infer<typeof Row>;

const columns = sql.fragment`decline_id, account_id, delegate_id, payment_attempt_id, quote_id, vendor_account_id,
  service_id, service_name, item, amount, reason, code, limit_micro, left_micro, resets_at, created_at`;

/**
 * A decline with its events. Those of an exhausted limit are inserted if the limit was not reported
 * in this period.
 */
export type NewDecline = { row: DeclineRow; period: string | null; messages: readonly Message[] };

/** JSON has no bigint. */
const inputOf = ({ row, period }: NewDecline) => ({
  ...row,
  amount: `${row.amount}`,
  limit_micro: row.limit_micro === null ? null : `${row.limit_micro}`,
  left_micro: row.left_micro === null ? null : `${row.left_micro}`,
  resets_at: isoTimeOrNull(row.resets_at),
  created_at: isoTime(row.created_at),
  period,
});

const Inserted = z.object({ decline_id: z.string(), outbox: insertedColumn });

/**
 * Records declines with their events, in one statement for those of the same moment. A decline of
 * the same quote, payer, delegate and reason is recorded once. The rows of both indexes are
 * inserted in one order, so that two such statements do not deadlock.
 * @returns the rows of the outbox for each decline, in their order; null: it was recorded before
 */
export const insertDeclines = async (
  db: Db,
  declines: readonly NewDecline[],
): Promise<(OutboxRow[] | null)[]> => {
  const messages = declines.flatMap((decline) => decline.messages);
  const rows = await db.any(sql.type(Inserted)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(declines.map(inputOf))}::jsonb) as input(decline_id text,
        account_id text, delegate_id text, payment_attempt_id text, quote_id text, vendor_account_id text,
        service_id uuid, service_name text, item text, amount bigint, reason text, code text, limit_micro bigint, left_micro bigint,
        resets_at timestamptz, created_at timestamptz, period text)
    ), inserted as (
      insert into declines (${columns})
      select decline_id, account_id, delegate_id, payment_attempt_id, quote_id, vendor_account_id, service_id,
        service_name, item, amount, reason, code, limit_micro, left_micro, resets_at, created_at
      from input order by quote_id, account_id, delegate_id, reason, decline_id
      on conflict do nothing
      returning decline_id
    ), exhausted as (
      insert into exhausted_limits (delegate_id, name, limit_micro, period, decline_id, created_at)
      select delegate_id, reason, limit_micro, period, decline_id, created_at
      from input join inserted using (decline_id) where period is not null
      order by delegate_id, reason, limit_micro, period, decline_id
      on conflict do nothing
      returning decline_id
    ), ${publishMatching(
      messages,
      'decline_id',
      sql.fragment`join inserted on inserted.decline_id = message.payload ->> 'decline_id'
      where message.subject <> ${eventSubject('settlement.delegateExhausted')}
        or inserted.decline_id in (select decline_id from exhausted)`,
    )}
    select inserted.decline_id, coalesce(published.outbox, '[]'::jsonb) as outbox
    from inserted left join published using (decline_id)`);
  const byId = new Map(rows.map((row) => [row.decline_id, row.outbox]));
  return declines.map(({ row }) => {
    const sent = byId.get(row.decline_id);
    return sent === undefined ? null : insertedRows(messages, sent);
  });
};

/** Which declines a caller may see, and as whom. */
export type Scope =
  | { as: 'service'; service_id: string }
  | { as: 'vendor'; account_id: string }
  | { as: 'payer'; account_id: string }
  | { as: 'delegate'; account_id: string; delegate_id: string };

const inScope = (scope: Scope) => {
  switch (scope.as) {
    case 'service':
      return sql.fragment`service_id = ${scope.service_id}`;
    case 'vendor':
      return sql.fragment`vendor_account_id = ${scope.account_id}`;
    case 'payer':
      return sql.fragment`account_id = ${scope.account_id}`;
    case 'delegate':
      return sql.fragment`account_id = ${scope.account_id} and delegate_id = ${scope.delegate_id}`;
  }
};

type Filters = Record<'quote_id' | 'service_id' | 'delegate_id' | 'code', string | undefined>;

/** A page of the declines in scope, newest first, and one more row. */
export const listDeclineRows = (
  db: Db,
  { scope, ...filters }: { scope: Scope } & Partial<Filters>,
  page: Page,
): Promise<readonly DeclineRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from declines where ${inScope(scope)} ${matching(filters)} ${pageBy('decline_id', page)}`);

/** As long as GET /v1/declines promises. */
const RETENTION_DAYS = 90;
const isOld = sql.fragment`created_at <= app_now() - ${RETENTION_DAYS} * interval '1 day'`;

/** Deletes old declines. @returns their number, at most `limit` */
export const purgeDeclines = async (db: Db, limit: number): Promise<number> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    delete from declines where decline_id in (
      select decline_id from declines where ${isOld} order by created_at limit ${limit})`);
  return rowCount;
};

/** Deletes the records of reported days and months that are over. */
export const purgeExhaustedLimits = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from exhausted_limits where ${isOld} and name <> 'total'`);
