import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { type OutboxRow, outboxRow } from '../../../../shared/events/outbox.ts';
import { activeTraceparent } from '../../../../shared/lib/trace.ts';
import { matching, type Page, pageBy } from '../../../../shared/lists/page.ts';
import { redeemable } from '../../refunds/store.ts';
import { chainStatuses, statuses } from '../model/status.ts';
import { drawable } from './consumptions.ts';
import { endColumns, expiredEvents, redeemedEvents } from './end-events.ts';
import { windowElapsed } from './redeem-window.ts';
import { chainState, state } from './states.ts';

export const Row = z.object({
  settlement_id: z.string(),
  account_id: z.string(),
  payment_attempt_id: z.string(),
  delegate_id: z.string().nullable(),
  wallet_id: z.string(),
  quote_id: z.string(),
  quote_token: z.string(),
  vendor_account_id: z.string(),
  service_id: z.string(),
  quote_amount: z.bigint(),
  fee_amount: z.bigint(),
  status: z.enum(statuses.states),
  chain_status: z.enum(chainStatuses.states),
  tx_hash: z.string().nullable(),
  superseded_tx_hashes: z.array(z.string()),
  settlement_token: z.string().nullable(),
  issued_at: z.number().nullable(),
  redeem_window_seconds: z.number(),
  redeem_expires_at: z.number().nullable(),
  redeemed_at: z.number().nullable(),
  redeem_id: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
  // Null: not prepaid.
  units_total: z.number().nullable(),
  units_consumed: z.number(),
  created_at: z.number(),
  // Of the moment of reading: an issued settlement past its window counts as expired before the job has marked it.
  elapsed: z.boolean(),
});
export type SettlementRow = z.infer<typeof Row>;

export const columns = sql.fragment`settlement_id, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id,
  quote_token, vendor_account_id, service_id, quote_amount, fee_amount, status, chain_status, tx_hash,
  superseded_tx_hashes, settlement_token, issued_at, redeem_window_seconds, redeem_expires_at, redeemed_at, redeem_id,
  failure_code, failure_message, units_total, units_consumed, created_at,
  coalesce(${windowElapsed}, false) as elapsed`;

/** By id, whoever owns it: for the service's own use, never straight into an answer. */
export const readSettlement = (db: Db, settlementId: string): Promise<SettlementRow> =>
  db.one(sql.type(Row)`select ${columns} from settlements where settlement_id = ${settlementId}`);

/** The same for a fact of another service, which may speak of what this database does not know. */
export const lookUpSettlement = (db: Db, settlementId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from settlements where settlement_id = ${settlementId}`);

const Terms = Row.pick({
  settlement_id: true,
  quote_id: true,
  account_id: true,
  delegate_id: true,
  wallet_id: true,
  service_id: true,
  vendor_account_id: true,
  quote_amount: true,
  fee_amount: true,
  redeem_window_seconds: true,
  created_at: true,
});
/** What of a settlement never changes, and every fact about it says. */
export type Terms = z.infer<typeof Terms>;

/** Of those of the settlements that are known here, in no order. */
export const termsOf = (db: Db, settlementIds: readonly string[]): Promise<readonly Terms[]> =>
  db.any(sql.type(Terms)`
    select settlement_id, quote_id, account_id, delegate_id, wallet_id, service_id, vendor_account_id, quote_amount,
      fee_amount, redeem_window_seconds, created_at
    from settlements where settlement_id = any(${sql.array([...settlementIds], 'text')})`);

/** The attempt of a payer's account, or null. */
export const findAttempt = (db: Db, accountId: string, attemptId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from settlements where account_id = ${accountId} and payment_attempt_id = ${attemptId}`);

/** The settlement of a payer's account that pays a quote, or has paid it; null: none, or it failed. */
export const findPaying = (db: Db, accountId: string, quoteId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from settlements
    where quote_id = ${quoteId} and ${state.isNot('failed')} and account_id = ${accountId}`);

/** Who may see which settlements: it goes into the query, so that a forgotten check finds nothing. */
export type Viewer =
  | { as: 'service'; service_id: string }
  | { as: 'payer'; account_id: string }
  | { as: 'delegate'; account_id: string; delegate_id: string }
  | { as: 'vendor'; account_id: string }
  | { as: 'either'; account_id: string };

const seenBy = (viewer: Viewer) => {
  switch (viewer.as) {
    case 'service':
      return sql.fragment`service_id = ${viewer.service_id}`;
    case 'payer':
      return sql.fragment`account_id = ${viewer.account_id}`;
    case 'delegate':
      return sql.fragment`account_id = ${viewer.account_id} and delegate_id = ${viewer.delegate_id}`;
    case 'vendor':
      return sql.fragment`vendor_account_id = ${viewer.account_id}`;
    case 'either':
      return sql.fragment`(account_id = ${viewer.account_id} or vendor_account_id = ${viewer.account_id})`;
  }
};

/** The viewer's settlement, or null: another's does not exist for them. */
export const findSettlement = (db: Db, viewer: Viewer, settlementId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from settlements where settlement_id = ${settlementId} and ${seenBy(viewer)}`);

const Verified = Row.pick({
  settlement_id: true,
  service_id: true,
  quote_token: true,
  quote_amount: true,
  fee_amount: true,
  status: true,
  chain_status: true,
  tx_hash: true,
  redeem_expires_at: true,
  redeemed_at: true,
  units_total: true,
  units_consumed: true,
  elapsed: true,
});
export type Sought = { settlement_id: string; service_id: string };

/**
 * What a service may verify, in one statement for all that is sought at the moment. The ids are given as an array too: of
 * the rows of a document Postgres assumes a hundred, and would rather read all of a service's settlements.
 * @returns in their order; null: not this service's
 */
export const findVerified = async (
  db: Db,
  sought: readonly Sought[],
): Promise<(z.infer<typeof Verified> | null)[]> => {
  const ids = sought.map(({ settlement_id }) => settlement_id);
  const rows = await db.any(sql.type(Verified)`
    select s.settlement_id, s.service_id, quote_token, quote_amount, fee_amount, status, chain_status, tx_hash,
      redeem_expires_at, redeemed_at, units_total, units_consumed,
      coalesce(${windowElapsed}, false) as elapsed
    from jsonb_to_recordset(${JSON.stringify(sought)}::jsonb) as sought(settlement_id text, service_id uuid)
    join settlements as s on s.settlement_id = sought.settlement_id and s.service_id = sought.service_id
    where s.settlement_id = any(${sql.array(ids, 'text')})`);
  const keyOf = ({ settlement_id, service_id }: Sought) => `${settlement_id} ${service_id}`;
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  return sought.map((each) => found.get(keyOf(each)) ?? null);
};

export type SettlementScope = {
  viewer: Viewer;
  status?: SettlementRow['status'] | undefined;
  service_id?: string | undefined;
  payment_attempt_id?: string | undefined;
};

/** A page of the viewer's settlements, newest first, and one more. */
export const listSettlements = (
  db: Db,
  { viewer, status, service_id, payment_attempt_id }: SettlementScope,
  page: Page,
): Promise<readonly SettlementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from settlements
    where ${seenBy(viewer)} ${matching({ service_id, payment_attempt_id })}
      ${status === undefined ? sql.fragment`` : sql.fragment`and ${hasStatus(status)}`}
      ${pageBy('settlement_id', page)}`);

const hasStatus = (status: SettlementRow['status']) => {
  if (status === 'issued') return sql.fragment`${state.is('issued')} and not ${windowElapsed}`;
  if (status === 'expired') {
    return sql.fragment`(${state.is('expired')} or (${state.is('issued')} and ${windowElapsed}))`;
  }
  return sql.fragment`status = ${status}`;
};

/** A redeem as its vendor asks for it, with the trace it belongs to. */
export type Redeem = {
  settlement_id: string;
  service_id: string;
  settlement_token: string;
  redeem_id: string | null;
  traceparent: string | null;
};
const Redeemed = outboxRow.extend({
  settlement_id: z.string(),
  issued_at: z.number(),
  redeemed_at: z.number(),
});

/**
 * Redeems each once, in one statement and one commit. The window is judged by the same statement,
 * so a redeem that races the expiry job has one winner; so has one that races a refund. A token is
 * compared with the one that was issued (docs/adr/0033). Settlements are locked in the order of
 * their ids, which are given as an array too (see findVerified).
 * @param redeems of different settlements
 * @returns in their order: when it was issued and redeemed, with the row of the outbox of its
 * event; null where it could not be redeemed (the caller reads why)
 */
export const redeemOnce = async (
  db: Db,
  redeems: readonly Redeem[],
): Promise<(z.infer<typeof Redeemed> | null)[]> => {
  const ids = redeems.map(({ settlement_id }) => settlement_id);
  const redeemed = await db.any(sql.type(Redeemed)`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(redeems)}::jsonb)
        as given(settlement_id text, service_id uuid, settlement_token text, redeem_id text, traceparent text)
      order by settlement_id
    ), changed as (
      update settlements as s set status = ${state.after('redeem')}, redeemed_at = app_now(), redeem_id = given.redeem_id
      from given
      where s.settlement_id = any(${sql.array(ids, 'text')})
        and s.settlement_id = given.settlement_id
        -- Within coalesce no index can serve them: a plan that was made over few rows would go on reading all open ones.
        and coalesce(s.service_id = given.service_id and s.settlement_token = given.settlement_token
          and ${state.isFrom('redeem')} and ${chainState.isFrom('redeem')} and not ${windowElapsed} and ${redeemable},
          false)
      returning ${endColumns('s')}, issued_at, traceparent
    ), told as (${redeemedEvents})
    select settlement_id, issued_at, redeemed_at, told.*
    from changed join told on told.payload ->> 'settlement_id' = settlement_id`);
  const found = new Map(redeemed.map((row) => [row.settlement_id, row]));
  return redeems.map(({ settlement_id }) => found.get(settlement_id) ?? null);
};

/**
 * Marks settlements whose window has elapsed; returns their events, a row each. Any number of
 * replicas may run it.
 */
export const expireElapsed = (db: Db, limit: number): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with changed as (
      update settlements set status = ${state.after('elapse')}
      where settlement_id in (
        select settlement_id from settlements
        where ${state.isFrom('elapse')} and ${chainState.isFrom('elapse')} and ${windowElapsed}
        order by redeem_expires_at limit ${limit} for update skip locked)
      returning ${endColumns('settlements')}, ${activeTraceparent()}::text as traceparent
    )
    ${expiredEvents}`);

const ActivityRow = z.object({ open: z.boolean(), ends_at: z.number().nullable() });

/**
 * Whether a service's settlements are under way, can be redeemed or have prepaid units to draw, and when the last
 * redeem window of all ends: the days in which units may be drawn are the caller's to add, since they are everybody's.
 */
export const activityOf = (db: Db, serviceId: string): Promise<z.infer<typeof ActivityRow>> =>
  db.one(sql.type(ActivityRow)`
    select
      coalesce(bool_or(
        ${chainState.is('pending')}
        or ${state.is('issued')} and not ${windowElapsed}
        or ${state.is('redeemed')} and units_consumed < units_total and ${chainState.isNot('failed')} and ${drawable}
      ), false) as open,
      max(redeem_expires_at + forked_for) as ends_at
    from settlements where service_id = ${serviceId}`);

const Stalled = z.object({
  settlement_id: z.string(),
  account_id: z.string(),
  payment_attempt_id: z.string(),
  quote_token: z.string(),
  wallet_id: z.string(),
  owner: z.string(),
  authority: z.string(),
  drive: z.number(),
  generation: z.number(),
  created_at: z.number(),
});
export type StalledRow = z.infer<typeof Stalled>;

/**
 * Claims settlements without progress (15 s while pending; longer once confirmed, since finality takes its time) and
 * raises their drive, so that the re-published job carries a new message id (rules 6 and 16).
 */
export const claimStalled = (db: Db, limit: number): Promise<readonly StalledRow[]> =>
  db.any(sql.type(Stalled)`
    update settlements as s set drive = drive + 1, progress_at = app_now()
    from payers as p
    where p.wallet_id = s.wallet_id and s.settlement_id in (
      select settlement_id from settlements
      where ${chainState.isOpen}
        and progress_at < app_now() - case chain_status when 'pending' then interval '15 seconds' else interval '45 seconds' end
      order by progress_at limit ${limit} for update skip locked)
    returning s.settlement_id, s.account_id, s.payment_attempt_id, s.quote_token, s.wallet_id, p.owner, p.authority, s.drive,
      s.generation, s.created_at`);

/** Claims one settlement that is under way, whenever it last made progress. Null: it is not there, or at its end. */
export const claimNow = (db: Db, settlementId: string): Promise<StalledRow | null> =>
  db.maybeOne(sql.type(Stalled)`
    update settlements as s set drive = drive + 1, progress_at = app_now()
    from payers as p
    where p.wallet_id = s.wallet_id and s.settlement_id = ${settlementId} and ${chainState.isOpen}
    returning s.settlement_id, s.account_id, s.payment_attempt_id, s.quote_token, s.wallet_id, p.owner, p.authority, s.drive,
      s.generation, s.created_at`);

const OfQuote = z.object({
  quote_id: z.string(),
  settlement_id: z.string(),
  status: z.enum(statuses.states),
});

/** Of each quote the settlement that did not fail (rule 2: there is one at most), or else the one that is named. */
export const settlementsOfQuotes = (
  db: Db,
  quotes: readonly { quote_id: string; settlement_id: string | null }[],
): Promise<readonly z.infer<typeof OfQuote>[]> =>
  db.any(sql.type(OfQuote)`
    select quote_id, found.settlement_id, found.status
    from jsonb_to_recordset(${JSON.stringify(quotes)}::jsonb) as asked(quote_id text, settlement_id text)
    cross join lateral (
      select settlement_id, status from settlements s where s.quote_id = asked.quote_id and s.status <> 'failed'
      union all
      select settlement_id, status from settlements s
      where s.settlement_id = asked.settlement_id and s.quote_id = asked.quote_id and s.status = 'failed'
      limit 1
    ) as found`);

/** Settlements that were ever issued, after an id in the order of ids. */
export const settlementsIssued = (
  db: Db,
  { after, limit }: { after: string | null; limit: number },
): Promise<readonly SettlementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from settlements
    where issued_at is not null ${after === null ? sql.fragment`` : sql.fragment`and settlement_id > ${after}`}
    order by settlement_id limit ${limit}`);

/** Those of the named settlements that were ever issued. */
export const settlementsIssuedOf = (db: Db, ids: readonly string[]): Promise<readonly SettlementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from settlements
    where issued_at is not null and settlement_id = any(${sql.array(ids, 'text')})`);
