import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import { insertEvents, isoText, type OutboxRow, outboxRow } from '../../../shared/events/outbox.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import { type Page, pageBy } from '../../../shared/lists/page.ts';
import { type SettlementState, settlements, type Transition } from '../domain/quote.ts';

/** `settlement_step` holds the place of a state here, from 1. */
export const STORED = ['accepted', 'failed', 'issued'] as const satisfies SettlementState[];
const stored = (state: SettlementState) => String(STORED.indexOf(state) + 1);
const states = sql.fragment`array[${sql.join(STORED.map(sql.literalValue), sql.fragment`, `)}]`;
const state = stateColumn(settlements, sql.fragment`settlement_step`, stored);

const Row = z.object({
  quote_id: z.string(),
  account_id: z.string(),
  service_id: z.string(),
  quote_amount: z.bigint(),
  fee_amount: z.bigint(),
  redeem_window_seconds: z.number(),
  quote_token: z.string(),
  expires_at: z.number(),
  created_at: z.number(),
  settlement_id: z.string().nullable(),
  settlement_state: z.enum(settlements.states).nullable(),
});
export type QuoteRow = z.infer<typeof Row>;

const columns = sql.fragment`quote_id, account_id, service_id, quote_amount, fee_amount, redeem_window_seconds,
  quote_token, expires_at, created_at, settlement_id, (${states})[settlement_step] as settlement_state`;

/** Whose quotes a caller may see: a key its service's, an owner all of the account's. */
export type Owner = { account_id: string; service_id: string | null };

const ownedBy = ({ account_id, service_id }: Owner) =>
  service_id === null
    ? sql.fragment`account_id = ${account_id}`
    : sql.fragment`account_id = ${account_id} and service_id = ${service_id}`;

/**
 * How often settlement is asked about a quote that is being settled: events come within seconds, if
 * they come.
 */
const ASK_WHILE_SETTLING = '1 minute';
/**
 * Nothing is signed later than a minute after a quote's expiry, and bytes live for a minute and a half: by then it is
 * decided what became of it.
 */
const ASK_AFTER_EXPIRY = '5 minutes';

export type NewQuote = Omit<QuoteRow, 'settlement_id' | 'settlement_state'>;

/** Writes new quotes in one statement. Times are epoch milliseconds. */
export const insertQuotes = (db: Db, rows: readonly NewQuote[]): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into quotes (quote_id, account_id, service_id, quote_amount, fee_amount, redeem_window_seconds,
      quote_token, expires_at, created_at, ask_at)
    select quote_id, account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, quote_token,
      to_timestamp(expires_at / 1000), to_timestamp(created_at / 1000),
      to_timestamp(expires_at / 1000) + ${ASK_AFTER_EXPIRY}::interval
    from ${sql.unnest(
      rows.map((row) => [
        row.quote_id,
        row.account_id,
        row.service_id,
        row.quote_amount,
        row.fee_amount,
        row.redeem_window_seconds,
        row.quote_token,
        row.expires_at,
        row.created_at,
      ]),
      ['text', 'text', 'uuid', 'int8', 'int8', 'int4', 'text', 'float8', 'float8'],
    )} as row (quote_id, account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, quote_token,
      expires_at, created_at)`);

/** The owner's quote, or null: another's quote does not exist for them. */
export const findQuote = (db: Db, owner: Owner, quoteId: string): Promise<QuoteRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from quotes where quote_id = ${quoteId} and ${ownedBy(owner)}`);

const statusIs = (status: 'pending' | 'settling' | 'settled' | 'expired') => {
  if (status === 'settled') return state.is('issued');
  if (status === 'settling') return state.is('accepted');
  return status === 'expired'
    ? sql.fragment`(settlement_step is null or ${state.is('failed')}) and expires_at <= app_now()`
    : sql.fragment`(settlement_step is null or ${state.is('failed')}) and expires_at > app_now()`;
};

export type QuoteScope = Owner & { status?: Parameters<typeof statusIs>[0] | undefined };

/** A page of the owner's quotes, newest first, and one more. */
export const listQuotes = (
  db: Db,
  { status, ...owner }: QuoteScope,
  page: Page,
): Promise<readonly QuoteRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from quotes
    where ${ownedBy(owner)} ${status === undefined ? sql.fragment`` : sql.fragment`and ${statusIs(status)}`}
      ${pageBy('quote_id', page)}`);

const ActivityRow = z.object({ open: z.boolean(), ends_at: z.number().nullable() });

/** Whether a service's quotes can be paid or are being paid, and when the redeem window of the last one would end. */
export const activityOf = (db: Db, serviceId: string): Promise<z.infer<typeof ActivityRow>> =>
  db.one(sql.type(ActivityRow)`
    select
      coalesce(bool_or(${statusIs('pending')} or ${statusIs('settling')}), false) as open,
      max(expires_at + redeem_window_seconds * interval '1 second') as ends_at
    from quotes where service_id = ${serviceId}`);

const known = stateColumn(settlements, sql.fragment`q.settlement_step`, stored);

/**
 * Takes over what became of settlements, each unless more is known; each quote at most once a call.
 * A quote gets another settlement only once the one before has failed, and settlement ids sort by
 * time.
 */
export const transitionQuotes = (db: Db, transitions: readonly Transition[]): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with told as (
      select * from jsonb_to_recordset(${JSON.stringify(transitions)}::jsonb)
        as told(quote_id text, settlement_id text, event text)
    ), locked as (
      -- In one order, so that two that write the same rows never wait for one another in a ring.
      select quote_id from quotes where quote_id in (select quote_id from told)
      order by quote_id for no key update
    )
    update quotes as q set settlement_id = told.settlement_id, settlement_step = array_position(${states}, told.event),
      ask_at = case told.event when 'accepted' then app_now() + ${ASK_WHILE_SETTLING}::interval
        when 'failed' then greatest(app_now(), q.expires_at) + ${ASK_AFTER_EXPIRY}::interval end
    from told join locked using (quote_id)
    where q.quote_id = told.quote_id and (q.settlement_id is null
      or q.settlement_id = told.settlement_id and ${known.allowsBy(sql.fragment`told.event`)}
      or q.settlement_id < told.settlement_id
      -- Paid by one whose replica's clock was behind.
      or q.settlement_id > told.settlement_id and ${known.is('failed')} and told.event = 'issued')`);

const Unsure = z.object({ quote_id: z.string(), settlement_id: z.string().nullable() });

/** Claims quotes about which settlement is to be asked; they come again in a minute if nobody answers. */
export const claimUnsure = (db: Db, limit: number): Promise<readonly z.infer<typeof Unsure>[]> =>
  db.any(sql.type(Unsure)`
    update quotes set ask_at = app_now() + ${ASK_WHILE_SETTLING}::interval
    where quote_id in (
      select quote_id from quotes where ask_at <= app_now() order by ask_at limit ${limit} for update skip locked)
    returning quote_id, settlement_id`);

/**
 * After settlement has answered: those that are not being settled and can be paid no more are not
 * asked about again. Of those, what nobody paid has expired, which is published once by any number
 * of replicas, as a row is closed once.
 */
export const closeAsked = (db: Db, quoteIds: readonly string[]): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with closed as (
      update quotes set ask_at = null
      where quote_id = any(${sql.array([...quoteIds], 'text')}) and (${state.is('accepted')}) is not true
        and expires_at <= app_now() - ${ASK_AFTER_EXPIRY}::interval and ask_at is not null
      returning *, ${activeTraceparent()}::text as traceparent
    )
    ${expiredEvents}`);

const expiredEvents = insertEvents('quote.expired', {
  from: sql.fragment`(select * from closed where (${state.is('issued')}) is not true) as closed`,
  fields: {
    quote_id: sql.fragment`closed.quote_id`,
    account_id: sql.fragment`closed.account_id`,
    service_id: sql.fragment`closed.service_id`,
    quote_amount: sql.fragment`closed.quote_amount::text`,
    fee_amount: sql.fragment`closed.fee_amount::text`,
    expires_at: isoText(sql.fragment`closed.expires_at`),
  },
  traceparent: sql.fragment`closed.traceparent`,
});
