import { z } from 'zod';
import type { IncomingRail } from '../../../../../shared/contract/settlement/rail.ts';
import { type Db, sql } from '../../../../../shared/db/pool.ts';
import { type OutboxRow, outboxRow } from '../../../../../shared/events/outbox.ts';
import type { Credit } from '../../../fee-accounts/model.ts';
import { insertFeeAccounts, lockFeeAccounts, reserveFees } from '../../../fee-accounts/store.ts';
import {
  claimedId,
  claimKeys,
  externalKey,
  isPartOfKeys,
  OF_MESSAGE,
  ofMessage,
  ofQuote,
} from '../../../keys/store.ts';
import { chainState, isIncoming, isRedeemable, isUnreserved, state } from '../conditions.ts';
import { endColumns, redeemedEvents } from '../end-events.ts';
import { columns, Row, type SettlementRow, withKinds } from '../settlements.ts';

/*
 * Settlements that a client of another protocol has signed (docs/adr/0043).
 */

const IncomingRow = Row.extend({
  message_hash: z.string(),
  // The memo that it was accepted with. Null: any.
  memo: z.string().nullable(),
  /** Of a payment link: the hash of what the page alone has that pays it. */
  page_handle: z.string().nullable(),
  handed_out: z.boolean(),
  hand_out_id: z.string().nullable(),
  /** The whole net is refunded, or reserved for refunds. */
  is_refunded: z.boolean(),
});
export type IncomingRow = z.infer<typeof IncomingRow>;

/** After this time an answer that was not confirmed as sent counts as lost. */
const HANDED_OUT_FOR = sql.fragment`interval '5 seconds'`;
const isHandedOut = sql.fragment`(handed_out_at is not null and handed_out_at > app_now() - ${HANDED_OUT_FOR})`;
const incomingColumns = sql.fragment`${columns}, of_kind.message_hash, of_kind.memo, of_kind.page_handle, of_kind.hand_out_id,
  ${isHandedOut} as handed_out,
  not ${isRedeemable} as is_refunded`;

export type NewIncomingPayment = {
  settlement_id: string;
  rail: IncomingRail;
  vendor_account_id: string;
  service_id: string;
  service_name: string;
  payout_address: string;
  quote_amount: bigint;
  fee_amount: bigint;
  accrued_fee: bigint;
  message_hash: string;
  /** The exact memo of the transaction. Null: any single memo, or none. */
  memo: string | null;
  payer_address: string;
  source_account: string;
  external_id: string | null;
  resource: string | null;
  /** The quote of a payment link, which the insert claims, and its scope. */
  quote_id: string | null;
  scope: IncomingRow['scope'];
  /** Of a payment link. */
  page_handle: string | null;
  /** The buyer signs after our fee payer. */
  signs_last: boolean;
  /** Of such a payment, until it has ended: the network of whoever asked for it. */
  asked_from: string | null;
};

const NotInserted = z.object({ settlement_id: z.null(), has_credit: z.boolean().nullable() });
const Evaluation = z
  .union([IncomingRow.extend({ has_credit: z.literal(true) }), NotInserted])
  .and(z.object({ position: z.number() }));

const evaluateAndInsert = (db: Db, rows: readonly NewIncomingPayment[], credit: Credit) => {
  const values = rows.map(({ quote_amount, fee_amount, accrued_fee, ...row }, position) => ({
    ...row,
    position,
    quote_amount: String(quote_amount),
    fee_amount: String(fee_amount),
    accrued_fee: String(accrued_fee),
  }));
  return db.any(sql.type(Evaluation)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(values)}::jsonb) as input(position integer, settlement_id text,
        rail text, vendor_account_id text, service_id uuid, service_name text, payout_address text, quote_amount bigint,
        fee_amount bigint, accrued_fee bigint, message_hash text, memo text, payer_address text, source_account text,
        external_id text, resource text, quote_id text, scope json, page_handle text, signs_last boolean, asked_from text)
    ), fee_account as (
      ${lockFeeAccounts(sql.fragment`select vendor_account_id from input where accrued_fee > 0`, credit)}
    ), evaluated as (
      select input.*, case when accrued_fee = 0 then true
        else sum(accrued_fee) over (partition by vendor_account_id order by position) <= fee_account.credit_left end
        as has_credit
      from input left join fee_account on fee_account.account_id = vendor_account_id
    ), ${claimKeys(OF_MESSAGE, {
      cte: 'evaluated',
      accepted: sql.fragment`has_credit`,
      accountId: sql.fragment`null`,
    })}, inserted as (
      insert into settlements (settlement_id, rail, vendor_account_id, service_id, quote_amount, fee_amount, quote_id,
        scope, holding)
      select ${claimedId(OF_MESSAGE)}, rail, vendor_account_id, service_id, quote_amount, fee_amount,
        quote_id, scope, false
      from evaluated join claimed using (settlement_id)
      returning *
    ), incoming as (
      insert into incoming_payments (settlement_id, account_id, payer_address, source_account, service_name,
        payout_address, message_hash, memo, external_id, resource, accrued_fee, page_handle, signs_last, open_link_id,
        asked_from)
      select settlement_id, inserted.vendor_account_id, payer_address, source_account, service_name, payout_address,
        message_hash, memo, external_id, resource, accrued_fee, page_handle, signs_last,
        case when signs_last then inserted.scope -> 'payment_link' ->> 'payment_link_id' end, asked_from
      from inserted join evaluated using (settlement_id)
      returning *
    ), reserved as (${reserveFees})
    select evaluated.position, evaluated.has_credit, settlement.*
    from (select position, settlement_id as id, has_credit from evaluated) as evaluated
    left join (select ${incomingColumns} from ${withKinds('inserted', 'incoming')}) as settlement on settlement.settlement_id = evaluated.id
    order by evaluated.position`);
};

type Inserted = IncomingRow | 'taken' | 'no_credit';

/** One payment. Its statement fails if it got only a part of its keys: the rest is taken. */
export const insertIncomingPayment = async (
  db: Db,
  row: NewIncomingPayment,
  credit: Credit,
): Promise<Inserted> => {
  try {
    return (await insertIncomingPayments(db, [row], credit))[0]!;
  } catch (error) {
    if (isPartOfKeys(error)) return 'taken';
    throw error;
  }
};

/**
 * Inserts pending settlements, and reserves their accrued fees on the vendors' accounts, in one
 * statement. It locks the accounts in the order of their ids, then inserts in the order of keys, so
 * that two replicas cannot deadlock.
 * @param rows of different keys
 * @returns in their order the settlement; `taken`: the message, the payment-identifier or the
 *   quote has a settlement; `no_credit`: the vendor owes too much
 */
export const insertIncomingPayments = async (
  db: Db,
  rows: readonly NewIncomingPayment[],
  credit: Credit,
): Promise<Inserted[]> => {
  let evaluated = await evaluateAndInsert(db, rows, credit);
  const missing = rows.filter((_, index) => evaluated[index]!.has_credit === null);
  if (missing.length > 0) {
    await insertFeeAccounts(db, new Set(missing.map(({ vendor_account_id }) => vendor_account_id)));
    const again = await evaluateAndInsert(db, missing, credit);
    let next = 0;
    evaluated = evaluated.map((one) => (one.has_credit === null ? again[next++]! : one));
  }
  const inserted: Inserted[] = evaluated.map((one) => {
    if (one.settlement_id !== null) return one;
    return one.has_credit ? 'taken' : 'no_credit';
  });
  if (rows.length > 1) {
    // A payment must not be refused because of the fee of another one that was not inserted.
    for (const [index, one] of inserted.entries())
      if (one === 'no_credit') inserted[index] = await insertIncomingPayment(db, rows[index]!, credit);
  }
  return inserted;
};

/** The settlement of a signed message, or null. */
export const findByMessage = (db: Db, messageHash: string): Promise<IncomingRow | null> =>
  db.maybeOne(sql.type(IncomingRow)`
    select ${incomingColumns} from ${withKinds()} where settlement_id = ${ofMessage(messageHash)}`);

/** The settlements of signed messages, in their order; null for a message without one. */
export const listByMessages = async (
  db: Db,
  messageHashes: readonly string[],
): Promise<(IncomingRow | null)[]> => {
  const rows = await db.any(sql.type(IncomingRow)`
    select ${incomingColumns} from ${withKinds()}
    where settlement_id in (
      select settlement_id from settlement_keys
      where kind = 'message' and key = any(${sql.array([...messageHashes], 'text')}))`);
  const found = new Map(rows.map((row) => [row.message_hash, row]));
  return messageHashes.map((hash) => found.get(hash) ?? null);
};

/** The settlement that holds a payment-identifier, and did not fail; null without one. */
export const findByExternalId = (
  db: Db,
  key: { service_id: string; source_account: string; external_id: string },
): Promise<Pick<SettlementRow, 'settlement_id'> | null> =>
  db.maybeOne(sql.type(z.object({ settlement_id: z.string() }))`
    select settlement_id from settlement_keys where kind = 'external_id'
      and key = ${externalKey(key.service_id, key.source_account, key.external_id)}`);

/** Whether a settlement that did not fail has the claim of a quote. */
export const isQuotePaid = (db: Db, quoteId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ paid: z.boolean() }))`
    select ${ofQuote(quoteId)} is not null as paid`);

/** Condition of a hand-out and of a redeem: paid now, and not refunded as a whole. */
const isDeliverable = sql.fragment`${isIncoming} and ${state.isFrom('redeem')}
  and ${chainState.isFrom('redeem')} and ${isRedeemable}`;
/** Condition of the confirmation that a success was sent, which a fork may have overtaken. */
const isSent = sql.fragment`rail = 'x402' and ${state.isFrom('sent')} and ${chainState.isFrom('sent')}
  and ${isRedeemable}`;

/** One call that asks for the success of a payment. */
export type HandOutRequest = { settlement_id: string; hand_out_id: string };

/**
 * Hands the success of each payment out to one call, in one statement.
 * @param requests of different settlements
 * @returns in their order the settlement; null when it is not paid, or another call has it
 */
export const recordHandOuts = async (
  db: Db,
  requests: readonly HandOutRequest[],
): Promise<(IncomingRow | null)[]> => {
  const ids = requests.map(({ settlement_id }) => settlement_id);
  const handedOut = await db.any(sql.type(IncomingRow)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb)
        as input(settlement_id text, hand_out_id text)
    ), deliverable as (
      select * from settlements
      where settlement_id = any(${sql.array(ids, 'text')}) and ${isDeliverable} order by settlement_id for no key update
    ), handed_out as (
      update incoming_payments as incoming set handed_out_at = app_now(), hand_out_id = input.hand_out_id
      from deliverable join input using (settlement_id)
      where incoming.settlement_id = deliverable.settlement_id and not ${isHandedOut}
      returning incoming.*
    )
    select ${incomingColumns} from ${withKinds('deliverable', 'handed_out')}
    where settlement_id in (select settlement_id from handed_out)`);
  const found = new Map(handedOut.map((row) => [row.settlement_id, row]));
  return ids.map((id) => found.get(id) ?? null);
};

/**
 * Redeems a payment of another protocol: after its success was sent (`hand_out_id`), or for the
 * vendor that accepts it (`hand_out_id` null).
 */
export type IncomingRedeemRequest = {
  settlement_id: string;
  redeem_id: string;
  hand_out_id: string | null;
  traceparent: string | null;
};
const Redeemed = outboxRow.extend({ settlement_id: z.string() });

/**
 * Redeems each payment once, in one statement.
 * @param requests of different settlements
 * @returns in their order the outbox row of the event; null when it is not deliverable, or handed
 *   out to another call
 */
export const recordIncomingRedeems = async (
  db: Db,
  requests: readonly IncomingRedeemRequest[],
): Promise<(OutboxRow | null)[]> => {
  const ids = requests.map(({ settlement_id }) => settlement_id);
  const redeemed = await db.any(sql.type(Redeemed)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb)
        as input(settlement_id text, redeem_id text, hand_out_id text, traceparent text)
    ), deliverable as (
      select settlement_id from settlements as s join input using (settlement_id)
      where s.settlement_id = any(${sql.array(ids, 'text')})
        and case when input.hand_out_id is null then ${isDeliverable} else ${isSent} end
      order by settlement_id for no key update of s
    ), delivered as (
      update incoming_payments as incoming set handed_out_at = null
      from deliverable join input using (settlement_id)
      where incoming.settlement_id = deliverable.settlement_id
        and case when input.hand_out_id is null then not ${isHandedOut} else incoming.hand_out_id = input.hand_out_id end
      returning incoming.settlement_id
    ), changed as (
      update settlements as s set status = ${state.after('redeem')}, redeemed_at = app_now(), redeem_id = input.redeem_id
      from delivered join input using (settlement_id)
      where s.settlement_id = delivered.settlement_id
      returning ${endColumns('s')}, traceparent
    ), published as (${redeemedEvents})
    select settlement_id, published.*
    from changed join published on published.payload ->> 'settlement_id' = settlement_id`);
  const found = new Map(redeemed.map((row) => [row.settlement_id, row]));
  return ids.map((id) => found.get(id) ?? null);
};

/**
 * Makes the success of a redeemed x402 payment available once more. Only one that was handed out by
 * a settle of x402 can be, and no refund may hold a part of it.
 * @param redeemId the success that was not delivered: a later one stays
 */
export const recordReissue = async (
  db: Db,
  { settlementId, redeemId }: { settlementId: string; redeemId: string },
  vendor: { accountId: string; serviceId: string | null },
): Promise<boolean> =>
  (await db.maybeOne(sql.typeAlias('id')`
    with changed as (
      update settlements as s set status = ${state.after('reissue')}, redeemed_at = null, redeem_id = null
      from incoming_payments as incoming
      where s.settlement_id = ${settlementId} and incoming.settlement_id = s.settlement_id
        and vendor_account_id = ${vendor.accountId}
        ${vendor.serviceId === null ? sql.fragment`` : sql.fragment`and service_id = ${vendor.serviceId}`}
        and rail = 'x402' and ${state.isFrom('reissue')} and ${chainState.isFrom('reissue')}
        and redeem_id = hand_out_id and redeem_id = ${redeemId} and ${isUnreserved}
      returning s.settlement_id
    )
    update incoming_payments as incoming set handed_out_at = null, hand_out_id = null
    from changed where incoming.settlement_id = changed.settlement_id
    returning incoming.settlement_id as id`)) !== null;

/** The incoming payments of CTE `changed`. Those of a quote are not searched. */
const areChanged = sql.fragment`incoming.settlement_id = any(
  array(select settlement_id from changed where ${isIncoming}))`;
/**
 * CTE: those of CTE `changed` that buyers of links were still to sign have ended.
 * @param ids SQL of an array with the ids of all its rows
 */
export const closeOpen = (ids: ReturnType<typeof sql.array>) => sql.fragment`
  update incoming_payments as incoming set open_link_id = null, asked_from = null
  where ${areChanged} and open_link_id is not null and incoming.settlement_id = any(${ids})`;
/** CTE: the same of failed ones, whose fee of CTE `changed` is returned besides. */
export const closeFailed = sql.fragment`
  update incoming_payments as incoming set open_link_id = null, asked_from = null,
    accrued_fee = accrued_fee - changed.returned_fee
  from changed where incoming.settlement_id = changed.settlement_id and ${areChanged}`;
/** Joins settlement `s` with what it has as an incoming payment. For another one no row is read. */
export const joinIncoming = sql.fragment`left join incoming_payments as incoming
  on incoming.settlement_id = case when ${isIncoming} then s.settlement_id end`;
