import { z } from 'zod';
import { type Db, type Pool, sql } from '../../../../../shared/db/pool.ts';
import type { Credit } from '../../../fee-accounts/model.ts';
import { returnFees } from '../../../fee-accounts/store.ts';
import { deleteKeysOfDeleted } from '../../../keys/store.ts';
import { allows, state } from '../conditions.ts';
import { columns, Row, type SettlementRow, withKinds } from '../settlements.ts';
import { insertIncomingPayment, type NewIncomingPayment } from './incoming-payments.ts';

/*
 * Payments of payment links whose buyer signs after our fee payer (docs/adr/0080). Whoever has the
 * address of a link can ask for one, and name any account.
 */

/** How many may wait for their buyers: of a link, and of the environment. */
export type OpenLimits = { ofLink: number; all: number };
/** What a vendor, and whoever asks from one network, may have of the environment's number. */
const SHARES = { ofVendor: 5, fromNetwork: 32 };

const Open = z.object({
  of_link: z.number(),
  of_vendor: z.number(),
  from_network: z.number(),
  of_all: z.number(),
});

const isWithin = (open: z.infer<typeof Open>, { ofLink, all }: OpenLimits): boolean =>
  open.of_link < ofLink &&
  open.of_vendor < Math.ceil(all / SHARES.ofVendor) &&
  open.from_network < Math.ceil(all / SHARES.fromNetwork) &&
  open.of_all < all;

/**
 * Inserts one payment within the number that may be open. They are inserted one after the other, so
 * that no two count without each other.
 * @returns as `insertIncomingPayment`; `too_many_open`: nothing was inserted
 */
export const insertSigningLast = (
  pool: Pool,
  paymentLinkId: string,
  row: NewIncomingPayment,
  { credit, limits }: { credit: Credit; limits: OpenLimits },
): Promise<Awaited<ReturnType<typeof insertIncomingPayment>> | 'too_many_open'> =>
  pool.transaction(async (tx) => {
    await tx.query(sql.typeAlias('void')`select pg_advisory_xact_lock(hashtextextended('signs last', 0))`);
    // A later statement than the lock, so that it sees what the lock has waited for.
    const open = await tx.one(sql.type(Open)`
      select (count(*) filter (where open_link_id = ${paymentLinkId}))::integer as of_link,
        (count(*) filter (where account_id = ${row.vendor_account_id}))::integer as of_vendor,
        (count(*) filter (where asked_from is not distinct from ${row.asked_from}::text))::integer as from_network,
        count(*)::integer as of_all
      from incoming_payments where open_link_id is not null`);
    if (!isWithin(open, limits)) return 'too_many_open';
    // A statement that fails by a key of another payment leaves nothing to commit.
    return insertIncomingPayment(tx, row, credit);
  });

/**
 * An older one may be known to the quote service, which has asked about its quote by then. It fails
 * with an event, as any other payment.
 */
const DELETED_WITHIN = '10 minutes';

/**
 * Deletes a payment that provably never came on chain, and returns its accrued fee. Nobody was told
 * of it but whoever asked.
 * @returns false when it is another payment, or not pending any more
 */
export const deleteUnsent = async (db: Db, settlementId: string, generation: number): Promise<boolean> =>
  (await db.maybeOne(sql.typeAlias('id')`
    with changed as (
      delete from settlements as s using incoming_payments as incoming
      where s.settlement_id = ${settlementId} and incoming.settlement_id = s.settlement_id and signs_last
        and ${state.is('pending')} and ${allows('failed')} and generation <= ${generation}
        and s.created_at > app_now() - ${DELETED_WITHIN}::interval
      returning s.settlement_id, vendor_account_id, accrued_fee as returned_fee, quote_id, service_id, source_account,
        external_id, message_hash
    ), returned as (${returnFees}), keys as (${deleteKeysOfDeleted})
    select settlement_id as id from changed`)) !== null;

/**
 * The payment by the code of a page: the paid one, or else the newest. Null: nobody has asked.
 * @param handle of the page, for this link only: anybody can ask for another one with a handle that
 *   a code shows
 */
export const findByPageHandle = (
  db: Db,
  { handle, paymentLinkId }: { handle: string; paymentLinkId: string },
): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from ${withKinds()}
    where settlement_id in (select settlement_id from incoming_payments where signs_last and page_handle = ${handle})
      and scope -> 'payment_link' ->> 'payment_link_id' = ${paymentLinkId}
    order by issued_at is null, settlement_id desc limit 1`);
