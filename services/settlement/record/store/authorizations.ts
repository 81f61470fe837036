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
import { returnQuotes } from '../../keys/store.ts';
import { releasePayers } from '../../payers/store.ts';
import { allows, chainState, isCaptureUnknown, isOlderThanRestore, state } from './conditions.ts';
import { about, endColumns } from './end-events.ts';
import { releaseHourlyCaps } from './hourly-release.ts';
import { microOf } from './pico.ts';
import { authorizationsOnly, columns, Row } from './settlements.ts';
import { Dispatch, extensionTokens } from './stalled.ts';

/*
 * How authorizations end: by a capture, which fixes what is paid and releases the rest at once, or
 * void. Both are one statement and one commit, guarded by the state, so an authorization ends once.
 */

const Authorization = Row.extend({
  ceiling: z.bigint(),
  used: z.bigint(),
  ends_at: z.number(),
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
  from ${authorizationsOnly}`;

/** The authorization of a service. Null: it has no settlement of this id with a ceiling. */
export const findAuthorization = (
  db: Db,
  { settlement_id, service_id }: { settlement_id: string; service_id: string },
): Promise<AuthorizationRow | null> =>
  db.maybeOne(sql.type(Authorization)`
    ${withPayer} where settlement_id = ${settlement_id} and service_id = ${service_id}`);

/**
 * Authorizations that end by themselves now, those that are due for longest first. Those that wait
 * for the chain after a restore come last, so that they keep no other one waiting.
 */
export const listDue = (db: Db, limit: number): Promise<readonly AuthorizationRow[]> =>
  db.any(sql.type(Authorization)`
    ${withPayer} where due_at <= app_now() and coalesce(retry_at <= app_now(), true)
    order by may_be_captured, due_at limit ${limit}`);

/**
 * Open authorizations whose capture a restore may have lost, and for which the chain was not asked.
 */
export const listUnknown = (db: Db, limit: number): Promise<readonly AuthorizationRow[]> =>
  db.any(sql.type(Authorization)`
    ${withPayer} where due_at > app_now() and ${isCaptureUnknown} order by due_at limit ${limit}`);

/** The chain has no capture of an authorization. */
export const recordSought = (db: Db, settlementId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update authorizations set sought_at = app_now() where settlement_id = ${settlementId} and due_at is not null`);

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
  if ('delegate_id' in closing)
    return sql.fragment`${isOfPayer} and exists (
        select from settlements as s
        where s.settlement_id = authorizations.settlement_id and s.delegate_id = ${closing.delegate_id})`;
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
    update authorizations set due_at = least(due_at, app_now())
    where due_at is not null and settlement_id in (
      select settlement_id from authorizations where due_at is not null and ${isClosedBy(closing)}
      order by settlement_id for update)
    returning settlement_id as id`);

/**
 * The hourly caps leave no room for the capture of an authorization. It is decided again when they
 * refill, and holds its ceiling until then.
 */
export const postponeCapture = (db: Db, settlementId: string, seconds: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update authorizations set retry_at = app_now() + ${seconds}::float8 * interval '1 second'
    where settlement_id = ${settlementId} and due_at is not null`);

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
    where wallet_id in (select wallet_id from authorizations where due_at is not null)
      and wallet_id > ${after}
    order by wallet_id limit ${limit}`);

/** A wallet as the chain has it. Amounts are digits, as a JSON parameter has them. */
export type Observed = { wallet_id: string; balance: string; allowance: string; slot: string };

/** What was used of `a`, in micro-units. */
const used = microOf(sql.fragment`a.used_pico`);

const atRiskEvents = insertEvents('settlement.atRisk', {
  from: sql.fragment`changed`,
  traceparent: sql.fragment`null::text`,
  fields: {
    ...about,
    used: sql.fragment`changed.used::text`,
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
      select wallet_id, sum(ceiling) as ceilings from authorizations
      where wallet_id = any(array(select wallet_id from input)) and due_at is not null
      group by wallet_id
    ), short as (
      select p.wallet_id from payers as p join input using (wallet_id) join held using (wallet_id)
      where p.as_of_slot <= input.slot and p.included_slot <= input.slot
        and least(input.balance, input.allowance) < held.ceilings
    ), locked as (
      select ${endColumns('s')}, ${used} as used from settlements as s join authorizations as a using (settlement_id)
      where a.wallet_id = any(array(select wallet_id from short)) and a.due_at is not null and a.at_risk_at is null
      order by s.settlement_id for update of s, a
    ), closed as (
      update authorizations as a set at_risk_at = app_now(), due_at = least(a.due_at, app_now())
      from locked where a.settlement_id = locked.settlement_id
      returning a.settlement_id, a.at_risk_at
    ), changed as (
      select locked.*, closed.at_risk_at from locked join closed using (settlement_id)
    )
    ${atRiskEvents}`);

/**
 * The amounts that leave the holds are those of CTE `changed`. The caps of authorizations get back
 * the whole ceiling: what is captured counts in those of payments.
 */
const release = sql.fragment`
  delegated as (${updateDelegateCounters({ held: sql.fragment`-1`, spent: sql.fragment`0` })}),
  released as (${releasePayers}), ${releaseHourlyCaps('authorized', sql.fragment`changed.ceiling`)}`;
/**
 * CTE `before`: the authorizations that an event may end, each locked after its settlement, in the
 * order of their ids. So the condition, which compares the use, is that of their newest version.
 */
const lockEnding = (event: 'capture' | 'void', isAsDecided: ReturnType<typeof sql.fragment>) => sql.fragment`
  select s.settlement_id, a.ceiling, ${used} as used, a.capped_at
  from settlements as s join authorizations as a using (settlement_id) join input using (settlement_id)
  where s.settlement_id = any(array(select settlement_id from input)) and ${allows(event)} and ${isAsDecided}
  order by s.settlement_id for update of s, a`;
/** What `release` reads of the settlement `s` and of CTE `before`, besides the amount. */
const releasedColumns = sql.fragment`s.settlement_id, s.wallet_id, s.account_id, s.delegate_id,
  s.${countedIn}, before.ceiling, before.capped_at, true as was_holding, null::bigint as slot`;

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
 * Settlements are locked in the order of their ids, each with its authorization, then delegates,
 * then payers.
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
    ), before as (${lockEnding(
      'capture',
      sql.fragment`${used} = input.used and (a.due_at > app_now() or not input.beyond_use)`,
    )}), changed as (
      update settlements as s set status = ${state.after('capture')}, chain_status = ${chainState.after('capture')},
        quote_amount = input.amount, fee_amount = input.fee, under_way_since = app_now(), progressed_at = app_now()
      from before join input using (settlement_id)
      where s.settlement_id = before.settlement_id and ${allows('capture')}
      returning ${releasedColumns}, before.ceiling - input.amount as quote_amount
    ), ended as (
      update authorizations as a set capturing_at = app_now(), due_at = null, retry_at = null,
        ceiling = case when input.found then greatest(a.ceiling, input.amount) else a.ceiling end
      from changed join input using (settlement_id) where a.settlement_id = changed.settlement_id
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
    ), before as (${lockEnding('void', sql.fragment`${used} = coalesce(input.used, ${used})`)}), changed as (
      update settlements as s set status = ${state.after('void')}, chain_status = ${chainState.after('void')},
        holding = false
      from before join input using (settlement_id)
      where s.settlement_id = before.settlement_id and ${allows('void')}
      returning ${endColumns('s')}, s.${countedIn}, before.ceiling, before.capped_at, true as was_holding,
        null::bigint as slot, app_now() as voided_at, before.used, input.traceparent
    ), ended as (
      update authorizations as a set voided_at = changed.voided_at, due_at = null, retry_at = null
      from changed where a.settlement_id = changed.settlement_id
    ), ${release}, keys as (${returnQuotes}), published as (${voidedEvents})
    select settlement_id, voided_at, used,
      (select jsonb_agg(to_jsonb(published)) from published where payload ->> 'settlement_id' = settlement_id) as events
    from changed`);
  const found = new Map(rows.map((row) => [row.settlement_id, row]));
  return voids.map(({ settlement_id }) => found.get(settlement_id) ?? null);
};
