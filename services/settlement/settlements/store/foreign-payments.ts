import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { type OutboxRow, outboxRow } from '../../../../shared/events/outbox.ts';
import { activeTraceparent } from '../../../../shared/lib/trace.ts';
import type { Credit } from '../../fee-accounts/model.ts';
import { insertFeeAccount, lockFeeAccount, reserveFees } from '../../fee-accounts/store.ts';
import { chainState, isRedeemable, isUnreserved, state } from './conditions.ts';
import { endColumns, redeemedEvents } from './end-events.ts';
import { columns, Row, type SettlementRow } from './settlements.ts';

/*
 * Settlements that a client of another protocol has signed (docs/adr/0043).
 */

const ForeignRow = Row.extend({
  message_hash: z.string(),
  handed_out: z.boolean(),
  hand_out_id: z.string().nullable(),
});
export type ForeignRow = z.infer<typeof ForeignRow>;

/** After this time an answer that was not confirmed as sent counts as lost. */
const HANDED_OUT_FOR = sql.fragment`interval '5 seconds'`;
const isHandedOut = sql.fragment`(handed_out_at is not null and handed_out_at > app_now() - ${HANDED_OUT_FOR})`;
const foreignColumns = sql.fragment`${columns}, message_hash, hand_out_id, ${isHandedOut} as handed_out`;

export type NewForeignPayment = {
  settlement_id: string;
  rail: 'x402' | 'mpp';
  vendor_account_id: string;
  service_id: string;
  service_name: string;
  payout_address: string;
  quote_amount: bigint;
  fee_amount: bigint;
  accrued_fee: bigint;
  message_hash: string;
  payer_address: string;
  source_account: string;
  external_id: string | null;
  resource: string | null;
};

const Evaluation = z.object({ has_credit: z.boolean().nullable(), inserted: z.boolean() });

/**
 * Inserts a pending settlement, and reserves its accrued fee on the vendor's account, in one
 * statement. Concurrent payments of one account lock its row in turn.
 * @returns the settlement; `taken`: the message or the payment-identifier has a settlement;
 *   `no_credit`: the vendor owes too much
 */
export const insertForeignPayment = async (
  db: Db,
  row: NewForeignPayment,
  credit: Credit,
): Promise<ForeignRow | 'taken' | 'no_credit'> => {
  const { vendor_account_id: vendor, accrued_fee: fee } = row;
  const account = fee > 0n ? lockFeeAccount(vendor, fee, credit) : sql.fragment`select true as has_credit`;
  const insert = () =>
    db.one(sql.type(Evaluation)`
      with fee_account as (${account}), inserted as (
        insert into settlements (settlement_id, rail, vendor_account_id, service_id, service_name, payout_address,
          quote_amount, fee_amount, accrued_fee, message_hash, payer_address, source_account, external_id, resource,
          holding)
        select ${row.settlement_id}, ${row.rail}, ${vendor}, ${row.service_id}::uuid, ${row.service_name},
          ${row.payout_address}, ${row.quote_amount}::bigint, ${row.fee_amount}::bigint, ${fee}::bigint,
          ${row.message_hash}, ${row.payer_address}, ${row.source_account}, ${row.external_id}, ${row.resource}, false
        from fee_account where has_credit
        on conflict do nothing
        returning vendor_account_id, accrued_fee
      ), reserved as (${reserveFees})
      select (select has_credit from fee_account) as has_credit, exists (select from inserted) as inserted`);
  let evaluated = await insert();
  if (evaluated.has_credit === null) {
    await insertFeeAccount(db, vendor);
    evaluated = await insert();
  }
  if (!evaluated.has_credit) return 'no_credit';
  return evaluated.inserted ? (await findByMessage(db, row.message_hash))! : 'taken';
};

/** The settlement of a signed message, or null. */
export const findByMessage = (db: Db, messageHash: string): Promise<ForeignRow | null> =>
  db.maybeOne(sql.type(ForeignRow)`
    select ${foreignColumns} from settlements where message_hash = ${messageHash}`);

/** The settlement that holds a payment-identifier, and did not fail; null without one. */
export const findByExternalId = (
  db: Db,
  key: { service_id: string; source_account: string; external_id: string },
): Promise<Pick<SettlementRow, 'settlement_id'> | null> =>
  db.maybeOne(sql.type(z.object({ settlement_id: z.string() }))`
    select settlement_id from settlements
    where service_id = ${key.service_id} and source_account = ${key.source_account}
      and external_id = ${key.external_id} and ${state.isNot('failed')}`);

/** Condition of a hand-out and of a redeem: paid now, and not refunded as a whole. */
const isDeliverable = sql.fragment`rail <> 'quittance' and ${state.isFrom('redeem')}
  and ${chainState.isFrom('redeem')} and ${isRedeemable}`;

/**
 * Hands the success of a payment out to one call.
 * @returns false when it is not paid, or another call has it
 */
export const handOut = async (db: Db, settlementId: string, handOutId: string): Promise<boolean> =>
  (await db.maybeOne(sql.typeAlias('id')`
    update settlements set handed_out_at = app_now(), hand_out_id = ${handOutId}
    where settlement_id = ${settlementId} and ${isDeliverable} and not ${isHandedOut}
    returning settlement_id as id`)) !== null;

/**
 * Redeems a payment of another protocol: after its success was sent (`handOutId`), or for the
 * vendor that accepts it (`handOutId` null).
 * @returns the outbox row of the event; null when it is not deliverable, or handed out to another
 *   call
 */
export const recordForeignRedeem = (
  db: Db,
  settlementId: string,
  { redeemId, handOutId }: { redeemId: string; handOutId: string | null },
): Promise<OutboxRow | null> =>
  db.maybeOne(sql.type(outboxRow)`
    with changed as (
      update settlements set status = ${state.after('redeem')}, redeemed_at = app_now(), redeem_id = ${redeemId},
        handed_out_at = null
      where settlement_id = ${settlementId} and ${isDeliverable}
        and ${handOutId === null ? sql.fragment`not ${isHandedOut}` : sql.fragment`hand_out_id = ${handOutId}`}
      returning ${endColumns('settlements')}, ${activeTraceparent()}::text as traceparent
    )
    ${redeemedEvents}`);

/**
 * Makes the success of a redeemed x402 payment available once more. Only one that was handed out by
 * a settle of x402 can be, and no refund may hold a part of it.
 */
export const recordReissue = async (
  db: Db,
  settlementId: string,
  vendor: { accountId: string; serviceId: string | null },
): Promise<boolean> =>
  (await db.maybeOne(sql.typeAlias('id')`
    update settlements set status = ${state.after('reissue')}, redeemed_at = null, redeem_id = null,
      handed_out_at = null, hand_out_id = null
    where settlement_id = ${settlementId} and vendor_account_id = ${vendor.accountId}
      ${vendor.serviceId === null ? sql.fragment`` : sql.fragment`and service_id = ${vendor.serviceId}`}
      and rail = 'x402' and ${state.isFrom('reissue')} and ${chainState.isFrom('reissue')}
      and redeem_id = hand_out_id and ${isUnreserved}
    returning settlement_id as id`)) !== null;

const Stalled = z.object({ settlement_id: z.string(), message_hash: z.string() });

/**
 * Claims payments of other protocols without progress. A pending one without a transaction may
 * still be in the hands of its call, so it is claimed later.
 */
export const claimStalledForeign = (db: Db, limit: number): Promise<readonly z.infer<typeof Stalled>[]> =>
  db.any(sql.type(Stalled)`
    update settlements set progressed_at = app_now(), dispatch_count = dispatch_count + 1
    where settlement_id in (
      select settlement_id from settlements
      where ${chainState.isOpen} and rail <> 'quittance'
        and progressed_at < app_now() - case
          when chain_status = 'confirmed' then interval '45 seconds'
          when tx_hash is null then interval '70 seconds'
          else interval '15 seconds' end
      order by progressed_at limit ${limit} for update skip locked)
    returning settlement_id, message_hash`);
