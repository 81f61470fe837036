import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import { insertEvents, isoText, type OutboxRow, outboxRow } from '../../../shared/events/outbox.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { packedToken, packToken } from '../../../shared/lib/tokens/packed-token.ts';
import { type Page, pageBy } from '../../../shared/lists/page.ts';
import {
  type QuoteStatus,
  type SettlementState,
  type SettlementTransition,
  settlements,
} from './model/status.ts';

/** `settlement_state` stores a state as its position in this list, starting with 1. */
export const STORED_STATES = ['accepted', 'failed', 'issued'] as const satisfies SettlementState[];
const stored = (state: SettlementState) => String(STORED_STATES.indexOf(state) + 1);
const stateNames = sql.fragment`array[${sql.join(STORED_STATES.map(sql.literalValue), sql.fragment`, `)}]`;
const state = stateColumn(settlements, sql.fragment`settlement_state`, stored);
const current = stateColumn(settlements, sql.fragment`q.settlement_state`, stored);

export const Row = z.object({
  quote_id: z.string(),
  account_id: z.string(),
  service_id: z.string(),
  quote_amount: z.bigint(),
  fee_amount: z.bigint(),
  redeem_window_seconds: z.number(),
  quote_token: packedToken,
  expires_at: z.number(),
  created_at: z.number(),
  settlement_id: z.string().nullable(),
  settlement_state: z.enum(settlements.states).nullable(),
});
export type QuoteRow = z.infer<typeof Row>;

export const columns = sql.fragment`quote_id, account_id, service_id, quote_amount, fee_amount, redeem_window_seconds,
  quote_token, expires_at, created_at, settlement_id, (${stateNames})[settlement_state] as settlement_state`;

/** The quotes of an account, or of one of its services. */
export type QuoteScope = { account_id: string; service_id: string | null };

const isInScope = ({ account_id, service_id }: QuoteScope) =>
  service_id === null
    ? sql.fragment`account_id = ${account_id}`
    : sql.fragment`account_id = ${account_id} and service_id = ${service_id}`;

/**
 * How often settlement is queried about a quote that is being settled. Its events usually arrive
 * within seconds.
 */
const QUERY_INTERVAL = '1 minute';
/**
 * When settlement is queried about a quote that is not being settled. Nothing is signed later than
 * a minute after the expiry, and a signed transaction is valid for a minute and a half. After this
 * time the outcome is final.
 */
const QUERY_AFTER_EXPIRY = '5 minutes';

export type NewQuote = Omit<QuoteRow, 'settlement_id' | 'settlement_state'>;

/** Inserts new quotes in one statement. Times are epoch milliseconds. */
export const insertQuotes = (db: Db, rows: readonly NewQuote[]): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into quotes (quote_id, account_id, service_id, quote_amount, fee_amount, redeem_window_seconds,
      quote_token, expires_at, created_at, query_at)
    select quote_id, account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, quote_token,
      to_timestamp(expires_at / 1000), to_timestamp(created_at / 1000),
      to_timestamp(expires_at / 1000) + ${QUERY_AFTER_EXPIRY}::interval
    from ${sql.unnest(
      rows.map((row) => [
        row.quote_id,
        row.account_id,
        row.service_id,
        row.quote_amount,
        row.fee_amount,
        row.redeem_window_seconds,
        packToken(row.quote_token),
        row.expires_at,
        row.created_at,
      ]),
      ['text', 'text', 'uuid', 'int8', 'int8', 'int4', 'bytea', 'float8', 'float8'],
    )} as row (quote_id, account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, quote_token,
      expires_at, created_at)`);

/**
 * Inserts the quote of an opened payment link, or replaces the one of an earlier opening of a link
 * for one payment.
 * @returns false: that one is paid or being paid
 */
export const upsertLinkQuote = async (db: Db, row: NewQuote, paymentLinkId: string): Promise<boolean> =>
  (await db.maybeOne(sql.type(z.object({ quote_id: z.string() }))`
    insert into quotes as q (quote_id, account_id, service_id, quote_amount, fee_amount, redeem_window_seconds,
      quote_token, expires_at, created_at, query_at, payment_link_id)
    values (${row.quote_id}, ${row.account_id}, ${row.service_id}, ${row.quote_amount}, ${row.fee_amount},
      ${row.redeem_window_seconds}, ${sql.binary(packToken(row.quote_token))}, to_timestamp(${row.expires_at} / 1000.0),
      to_timestamp(${row.created_at} / 1000.0),
      to_timestamp(${row.expires_at} / 1000.0) + ${QUERY_AFTER_EXPIRY}::interval, ${paymentLinkId})
    on conflict (quote_id) do update set fee_amount = excluded.fee_amount, quote_token = excluded.quote_token,
      expires_at = excluded.expires_at, query_at = excluded.query_at
    where q.settlement_state is null or ${current.is('failed')}
    returning quote_id`)) !== null;

/**
 * A quote of the scope. Null for every other quote, so that a caller cannot learn that it exists.
 */
export const findQuote = (db: Db, scope: QuoteScope, quoteId: string): Promise<QuoteRow | null> =>
  db.maybeOne(
    sql.type(Row)`select ${columns} from quotes where quote_id = ${quoteId} and ${isInScope(scope)}`,
  );

const statusIs = (status: QuoteStatus) => {
  if (status === 'settled') return state.is('issued');
  if (status === 'settling') return state.is('accepted');
  return status === 'expired'
    ? sql.fragment`(settlement_state is null or ${state.is('failed')}) and expires_at <= app_now()`
    : sql.fragment`(settlement_state is null or ${state.is('failed')}) and expires_at > app_now()`;
};

/** The quote is paid. The index of the payments of links has it. */
export const isPaid = state.is('issued');

/** A page of the quotes of a scope, newest first, and one more. */
export const listQuotes = (
  db: Db,
  { status, ...scope }: QuoteScope & { status?: QuoteStatus | undefined },
  page: Page,
): Promise<readonly QuoteRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from quotes
    where ${isInScope(scope)} ${status === undefined ? sql.fragment`` : sql.fragment`and ${statusIs(status)}`}
      ${pageBy('quote_id', page)}`);

const ActivityRow = z.object({ open: z.boolean(), ends_at: z.number().nullable() });

/**
 * Whether quotes of a service can be paid or are being paid, and when the redeem window of the last
 * one ends.
 */
export const getActivity = (db: Db, serviceId: string): Promise<z.infer<typeof ActivityRow>> =>
  db.one(sql.type(ActivityRow)`
    select
      coalesce(bool_or(${statusIs('pending')} or ${statusIs('settling')}), false) as open,
      max(expires_at + redeem_window_seconds * interval '1 second') as ends_at
    from quotes where service_id = ${serviceId}`);

/** Whether quotes of an account can be paid or are being paid. */
export const hasOpenQuotes = (db: Db, accountId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ open: z.boolean() }))`
    select exists (
      select from quotes where account_id = ${accountId} and (${statusIs('pending')} or ${statusIs('settling')})
    ) as open`);

/** Inserts `quote.linkPaid` into the outbox for each row of the common table expression `paid`. */
const insertPaidEvents = insertEvents('quote.linkPaid', {
  from: sql.fragment`paid`,
  fields: {
    payment_link_id: sql.fragment`paid.payment_link_id`,
    title: sql.fragment`paid.title`,
    settlement_id: sql.fragment`paid.settlement_id`,
    quote_id: sql.fragment`paid.quote_id`,
    account_id: sql.fragment`paid.account_id`,
    service_id: sql.fragment`paid.service_id`,
    quote_amount: sql.fragment`paid.quote_amount::text`,
  },
  traceparent: sql.fragment`paid.traceparent`,
});

/**
 * Applies transitions of settlements to their quotes, at most one transition for each quote. A
 * transition that a later one has overtaken changes nothing. A quote gets another settlement only
 * after the earlier one has failed. Settlement ids sort by time. The confirmed payment of a link is
 * published, and is to be redeemed.
 * @returns the outbox rows of the events
 */
export const transitionQuotes = (
  db: Db,
  transitions: readonly SettlementTransition[],
): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(transitions)}::jsonb)
        as input(quote_id text, settlement_id text, event text)
    ), locked as (
      -- In one order, so that two statements that write the same rows cannot deadlock.
      select quote_id from quotes where quote_id in (select quote_id from input)
      order by quote_id for no key update
    ), changed as (
    update quotes as q set settlement_id = input.settlement_id,
      settlement_state = array_position(${stateNames}, input.event),
      query_at = case input.event when 'accepted' then app_now() + ${QUERY_INTERVAL}::interval
        when 'failed' then greatest(app_now(), q.expires_at) + ${QUERY_AFTER_EXPIRY}::interval end,
      redeem_at = case when input.event = 'issued' and q.payment_link_id is not null then app_now() end
    from input join locked using (quote_id)
    where q.quote_id = input.quote_id and (q.settlement_id is null
      or q.settlement_id = input.settlement_id and ${current.allowsBy(sql.fragment`input.event`)}
      or q.settlement_id < input.settlement_id
      -- The replica that accepted this settlement had a clock that was behind.
      or q.settlement_id > input.settlement_id and ${current.is('failed')} and input.event = 'issued')
    returning q.*
    ), paid as (
      select changed.quote_id, settlement_id, changed.account_id, changed.service_id, changed.quote_amount,
        link.payment_link_id, link.title, ${activeTraceparent()}::text as traceparent
      from changed join payment_links as link on link.payment_link_id = changed.payment_link_id where ${isPaid}
    )
    ${insertPaidEvents}`);

/** A confirmed payment of a payment link. */
const LinkPayment = z.object({ quote_id: z.string(), settlement_id: z.string() });
export type LinkPayment = z.infer<typeof LinkPayment>;

/** Claims payments of links that are to be redeemed. Each is claimed again after a minute. */
export const claimPaymentsToRedeem = (db: Db, limit: number): Promise<readonly LinkPayment[]> =>
  db.any(sql.type(LinkPayment)`
    update quotes set redeem_at = app_now() + ${QUERY_INTERVAL}::interval
    where quote_id in (
      select quote_id from quotes where redeem_at <= app_now() order by redeem_at limit ${limit} for update skip locked)
    returning quote_id, settlement_id`);

/** Records that there is nothing to redeem any more, unless another payment came in between. */
export const recordRedeemed = (db: Db, { quote_id, settlement_id }: LinkPayment): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update quotes set redeem_at = null where quote_id = ${quote_id} and settlement_id = ${settlement_id}`);

/** Deletes the quote of an opening that was refused. Nobody else has it. */
export const deleteUnusedLinkQuote = (db: Db, quoteId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    delete from quotes where quote_id = ${quoteId} and payment_link_id is not null and settlement_id is null`);

/**
 * Deletes those quotes of links that nobody paid and nobody can pay any more. Whoever has the
 * address of a link makes one, so they must not pile up.
 */
export const deleteUnpaidLinkQuotes = (db: Db, quoteIds: readonly string[]): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    delete from quotes where quote_id = any(${sql.array([...quoteIds], 'text')}) and payment_link_id is not null
      and settlement_id is null and expires_at <= app_now() - ${QUERY_AFTER_EXPIRY}::interval`);

const QuoteToQuery = z.object({ quote_id: z.string(), settlement_id: z.string().nullable() });

/**
 * Claims quotes about which settlement is to be queried. Each is claimed again after a minute
 * unless it is closed.
 */
export const claimQuotesToQuery = (db: Db, limit: number): Promise<readonly z.infer<typeof QuoteToQuery>[]> =>
  db.any(sql.type(QuoteToQuery)`
    update quotes set query_at = app_now() + ${QUERY_INTERVAL}::interval
    where quote_id in (
      select quote_id from quotes where query_at <= app_now() order by query_at limit ${limit} for update skip locked)
    returning quote_id, settlement_id`);

/**
 * Inserts `quote.expired` into the outbox for each row of the common table expression `expired`:
 * the columns of a quote and the `traceparent`.
 */
const insertExpiredEvents = insertEvents('quote.expired', {
  from: sql.fragment`expired`,
  fields: {
    quote_id: sql.fragment`expired.quote_id`,
    account_id: sql.fragment`expired.account_id`,
    service_id: sql.fragment`expired.service_id`,
    quote_amount: sql.fragment`expired.quote_amount::text`,
    fee_amount: sql.fragment`expired.fee_amount::text`,
    expires_at: isoText(sql.fragment`expired.expires_at`),
  },
  traceparent: sql.fragment`expired.traceparent`,
});

/**
 * Closes quotes after settlement has answered: those that are not being settled and can no longer
 * be paid are not queried again. Of these, the unpaid ones have expired. Their event is published
 * once by any number of replicas, because a row is closed once.
 * @returns the outbox rows of the events
 */
export const closeQueriedQuotes = (db: Db, quoteIds: readonly string[]): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with closed as (
      update quotes set query_at = null
      where quote_id = any(${sql.array([...quoteIds], 'text')}) and (${state.is('accepted')}) is not true
        and expires_at <= app_now() - ${QUERY_AFTER_EXPIRY}::interval and query_at is not null
      returning *, ${activeTraceparent()}::text as traceparent
    ), expired as (select * from closed where (${isPaid}) is not true and payment_link_id is null)
    ${insertExpiredEvents}`);
