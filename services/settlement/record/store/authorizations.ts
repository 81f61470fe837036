import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import type { Message } from '../../../../shared/events/event.ts';
import {
  insertEvents,
  insertedColumn,
  insertedRows,
  isoText,
  type OutboxRow,
  outboxColumn,
  outboxRow,
  publishMatching,
} from '../../../../shared/events/outbox.ts';
import { packedToken } from '../../../../shared/lib/tokens/packed-token.ts';
import { countedIn, updateDelegateCounters } from '../../delegates/store.ts';
import { releasePayers } from '../../payers/store.ts';
import { allows, chainState, isCaptureUnknown, isOlderThanRestore, state } from './conditions.ts';
import { about, endColumns } from './end-events.ts';
import { releaseHourlyCaps } from './hourly-release.ts';
import { columns, Row } from './settlements.ts';
import { Dispatch, extensionTokens } from './stalled.ts';

/*
 * How authorizations end: by a capture, which fixes what is paid and releases the rest at once, or
 * void. Both are one statement and one commit, guarded by the state, so an authorization ends once.
 */

const Authorization = Row.extend({
  account_id: z.string(),
  quote_token: packedToken,
  // What the job of its capture contains besides.
  ...Dispatch.pick({
    owner: true,
    authority: true,
    dispatch_count: true,
    generation: true,
    extension_tokens: true,
  }).shape,
  payment_attempt_id: z.string(),
  wallet_id: z.string(),
  /** Older than a restore, which may have lost its capture. */
  may_be_captured: z.boolean(),
});
export type AuthorizationRow = z.infer<typeof Authorization>;

const withPayer = sql.fragment`
  select ${columns}, dispatch_count, generation, ${extensionTokens('settlements')},
    (select owner from payers where payers.wallet_id = settlements.wallet_id) as owner,
    (select authority from payers where payers.wallet_id = settlements.wallet_id) as authority,
    ${isOlderThanRestore(sql.fragment`created_at`)} as may_be_captured
  from settlements`;

/** The authorization of a service. Null: it has no settlement of this id with a ceiling. */
export const findAuthorization = (
  db: Db,
  { settlement_id, service_id }: { settlement_id: string; service_id: string },
): Promise<AuthorizationRow | null> =>
  db.maybeOne(sql.type(Authorization)`
    ${withPayer} where settlement_id = ${settlement_id} and service_id = ${service_id} and max_amount is not null`);

/**
 * Authorizations that end by themselves now, those that are due for longest first. Those that wait
 * for the chain after a restore come last, so that they keep no other one waiting.
 */
export const listDue = (db: Db, limit: number): Promise<readonly AuthorizationRow[]> =>
  db.any(sql.type(Authorization)`
    ${withPayer} where capture_due_at <= app_now() and coalesce(capture_retry_at <= app_now(), true)
    order by may_be_captured, capture_due_at limit ${limit}`);

/**
 * Open authorizations whose capture a restore may have lost, and for which the chain was not asked.
 */
export const listUnknown = (db: Db, limit: number): Promise<readonly AuthorizationRow[]> =>
  db.any(sql.type(Authorization)`
    ${withPayer} where capture_due_at > app_now() and ${isCaptureUnknown} order by capture_due_at limit ${limit}`);

/** The chain has no capture of an authorization. */
export const recordSought = (db: Db, settlementId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update settlements set capture_sought_at = app_now()
    where settlement_id = ${settlementId} and ${state.is('authorized')}`);

/** Which authorizations are closed: one, or those of a delegate, of a sign-in, of an account. */
export type Closing = { account_id: string } & (
  | { settlement_id: string }
  | { delegate_id: string }
  | { session_id: string }
  | { as: 'payer or vendor' }
);

const isClosedBy = (closing: Closing) => {
  const isOfPayer = sql.fragment`account_id = ${closing.account_id}`;
  if ('settlement_id' in closing)
    return sql.fragment`${isOfPayer} and settlement_id = ${closing.settlement_id}`;
  if ('delegate_id' in closing) return sql.fragment`${isOfPayer} and delegate_id = ${closing.delegate_id}`;
  if ('session_id' in closing) return sql.fragment`${isOfPayer} and session_id = ${closing.session_id}`;
  return sql.fragment`(${isOfPayer} or vendor_account_id = ${closing.account_id})`;
};

/**
 * Makes authorizations due now: no use is recorded any more, and what was used is captured. It
 * locks them in the order of their ids.
 * @returns their ids
 */
export const recordClosed = (db: Db, closing: Closing): Promise<readonly string[]> =>
  db.anyFirst(sql.typeAlias('id')`
    update settlements set capture_due_at = least(capture_due_at, app_now())
    where settlement_id in (
      select settlement_id from settlements
      where capture_due_at is not null and ${state.is('authorized')} and ${isClosedBy(closing)}
      order by settlement_id for update)
    returning settlement_id as id`);

/**
 * The hourly caps leave no room for the capture of an authorization. It is decided again when they
 * refill, and holds its ceiling until then.
 */
export const postponeCapture = (db: Db, settlementId: string, seconds: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update settlements set capture_retry_at = app_now() + ${seconds}::float8 * interval '1 second'
    where settlement_id = ${settlementId} and ${state.is('authorized')}`);

const Watched = z.object({
  wallet_id: z.string(),
  account_id: z.string(),
  owner: z.string(),
  authority: z.string(),
});
export type Watched = z.infer<typeof Watched>;

/** Wallets with open authorizations, in the order of their ids, after the given one. */
export const listWatched = (db: Db, after: string, limit: number): Promise<readonly Watched[]> =>
  db.any(sql.type(Watched)`
    select wallet_id, account_id, owner, authority from payers
    where wallet_id in (select wallet_id from settlements where capture_due_at is not null)
      and wallet_id > ${after}
    order by wallet_id limit ${limit}`);

/** A wallet as the chain has it. Amounts are digits, as a JSON parameter has them. */
export type Observed = { wallet_id: string; balance: string; allowance: string; slot: string };

const atRiskEvents = insertEvents('settlement.atRisk', {
  from: sql.fragment`changed`,
  traceparent: sql.fragment`null::text`,
  fields: {
    ...about,
    used: sql.fragment`changed.units_consumed::text`,
    at_risk_at: isoText(sql.fragment`changed.at_risk_at`),
  },
});

/**
 * Closes the authorizations of wallets that no longer cover their ceilings. Payments under way do
 * not count: what the chain has of them already is not in the observation. An observation that is
 * older than what is known of a wallet says nothing, because a node may lag behind.
 */
export const recordAtRisk = (db: Db, observed: readonly Observed[]): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(observed)}::jsonb)
        as input(wallet_id text, balance bigint, allowance bigint, slot bigint)
    ), held as (
      select wallet_id, sum(quote_amount) as ceilings from settlements
      where wallet_id = any(array(select wallet_id from input)) and capture_due_at is not null
      group by wallet_id
    ), short as (
      select p.wallet_id from payers as p join input using (wallet_id) join held using (wallet_id)
      where p.as_of_slot <= input.slot and p.included_slot <= input.slot
        and least(input.balance, input.allowance) < held.ceilings
    ), changed as (
      update settlements as s set at_risk_at = app_now(), capture_due_at = least(s.capture_due_at, app_now())
      where s.settlement_id in (
        select settlement_id from settlements
        where wallet_id = any(array(select wallet_id from short)) and capture_due_at is not null
          and at_risk_at is null and ${state.is('authorized')}
        order by settlement_id for update)
      returning ${endColumns('s')}, s.units_consumed, s.at_risk_at
    )
    ${atRiskEvents}`);

/**
 * The amounts that leave the holds are those of CTE `changed`. The caps of authorizations get back
 * the whole ceiling: what is captured counts in those of payments.
 */
const release = sql.fragment`
  delegated as (${updateDelegateCounters({ held: sql.fragment`-1`, spent: sql.fragment`0` })}),
  released as (${releasePayers}), ${releaseHourlyCaps('authorized', sql.fragment`changed.ceiling`)}`;
/** CTE `before`: the authorizations that an event may end, locked in the order of their ids. */
const lockEnding = (event: 'capture' | 'void') => sql.fragment`
  select s.settlement_id, s.quote_amount as ceiling, s.capped_at as authorized_at from settlements as s
  where s.settlement_id = any(array(select settlement_id from input)) and ${allows(event)}
  order by s.settlement_id for update`;
/** What `release` reads of the settlement `s` and of CTE `before`, besides the amount. */
const releasedColumns = sql.fragment`s.settlement_id, s.wallet_id, s.account_id, s.delegate_id,
  s.${countedIn}, before.ceiling, before.authorized_at as capped_at, true as was_holding, null::bigint as slot`;

/** A capture that was decided on the use that was read. */
export type NewCapture = {
  settlement_id: string;
  amount: string;
  fee: string;
  /** The use on which it was decided. More use since then decides again. */
  used: string;
  /** An amount beyond the use, which is only captured of an authorization that is not due. */
  beyond_use: boolean;
  /** The chain has it. A restore may have lost the extension that it needed. */
  found: boolean;
};
const Captured = z.object({ settlement_id: z.string(), outbox: insertedColumn });

/**
 * Fixes what authorizations pay, releases the rest of their holds, and inserts the jobs that pay.
 * Settlements are locked in the order of their ids, then delegates, then payers.
 * @param captures of different settlements, each with its job
 * @returns in their order: the outbox rows; null: it has ended meanwhile, or more was used
 */
export const recordCaptures = async (
  db: Db,
  captures: readonly { capture: NewCapture; job: Message }[],
): Promise<(OutboxRow[] | null)[]> => {
  const messages = captures.map(({ job }) => job);
  const input = captures.map(({ capture }) => capture);
  const rows = await db.any(sql.type(Captured)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb)
        as input(settlement_id text, amount bigint, fee bigint, used bigint, beyond_use boolean, found boolean)
    ), before as (${lockEnding('capture')}), changed as (
      update settlements as s set status = ${state.after('capture')}, chain_status = ${chainState.after('capture')},
        quote_amount = input.amount, fee_amount = input.fee, capturing_at = app_now(), progressed_at = app_now(),
        capture_due_at = null, capture_retry_at = null, capped_at = null,
        max_amount = case when input.found then greatest(s.max_amount, input.amount) else s.max_amount end
      from before join input using (settlement_id)
      where s.settlement_id = before.settlement_id and ${allows('capture')} and s.units_consumed = input.used
        and (s.capture_due_at > app_now() or not input.beyond_use)
      returning ${releasedColumns}, before.ceiling - input.amount as quote_amount
    ), ${release}, ${publishMatching(
      messages,
      'settlement_id',
      sql.fragment`join changed on changed.settlement_id = message.payload ->> 'settlement_id'`,
    )}
    select changed.settlement_id, coalesce(published.outbox, '[]'::jsonb) as outbox
    from changed left join published on published.settlement_id = changed.settlement_id`);
  const found = new Map(rows.map((row) => [row.settlement_id, row]));
  return captures.map(({ capture }) => {
    const row = found.get(capture.settlement_id);
    return row === undefined ? null : insertedRows(messages, row.outbox);
  });
};

/** An authorization to void. */
export type NewVoid = {
  settlement_id: string;
  /** The use on which it was decided; more use since then decides again. Null: any. */
  used: string | null;
  traceparent: string | null;
};
const Voided = z.object({
  settlement_id: z.string(),
  voided_at: z.number(),
  used: z.bigint(),
  events: outboxColumn,
});
export type Voided = z.infer<typeof Voided>;

const voidedEvents = insertEvents('settlement.voided', {
  from: sql.fragment`changed`,
  traceparent: sql.fragment`changed.traceparent`,
  fields: {
    ...about,
    voided_at: isoText(sql.fragment`changed.voided_at`),
    used: sql.fragment`changed.used::text`,
  },
});

/**
 * Ends authorizations without a payment and releases everything that they hold. It locks as
 * `recordCaptures` does.
 * @param voids of different settlements
 * @returns in their order; null: it has ended meanwhile, or more was used
 */
export const recordVoids = async (db: Db, voids: readonly NewVoid[]): Promise<(Voided | null)[]> => {
  const rows = await db.any(sql.type(Voided)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(voids)}::jsonb)
        as input(settlement_id text, used bigint, traceparent text)
    ), before as (${lockEnding('void')}), changed as (
      update settlements as s set status = ${state.after('void')}, chain_status = ${chainState.after('void')},
        holding = false, voided_at = app_now(), capture_due_at = null, capture_retry_at = null
      from before join input using (settlement_id)
      where s.settlement_id = before.settlement_id and ${allows('void')}
        and s.units_consumed = coalesce(input.used, s.units_consumed)
      returning ${endColumns('s')}, s.${countedIn}, before.ceiling, s.capped_at, true as was_holding,
        null::bigint as slot, s.voided_at, s.units_consumed as used, input.traceparent
    ), ${release}, published as (${voidedEvents})
    select settlement_id, voided_at, used,
      (select jsonb_agg(to_jsonb(published)) from published where payload ->> 'settlement_id' = settlement_id) as events
    from changed`);
  const found = new Map(rows.map((row) => [row.settlement_id, row]));
  return voids.map(({ settlement_id }) => found.get(settlement_id) ?? null);
};
