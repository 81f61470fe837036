import { z } from 'zod';
import { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { packedToken } from '../../../shared/lib/tokens/packed-token.ts';
import { chainStatuses } from '../record/model/status.ts';
import { joinIncoming } from '../record/store/incoming/incoming-payments.ts';
import { addReserved, subtractReleased } from '../record/store/refundable.ts';

const Reservation = z.object({
  amount: z.bigint(),
  released: z.boolean(),
  settlement_id: z.string(),
  vendor_account_id: z.string(),
  service_id: z.string(),
  delegate_id: z.string().nullable(),
  // Null: a payer of another protocol.
  payer_account_id: z.string().nullable(),
  payer_owner: z.string(),
  quote_token: packedToken.nullable(),
  scope: QuoteClaims.shape.scope,
  resource: z.string().nullable(),
  payout_address: z.string().nullable(),
  chain_status: z.enum(chainStatuses.states),
});
export type ReservationRow = z.infer<typeof Reservation>;

/** A reservation with what its refund needs of the settlement, or null. */
export const findReservation = (db: Db, refundId: string): Promise<ReservationRow | null> =>
  db.maybeOne(sql.type(Reservation)`
    select r.amount, r.released_at is not null as released, s.settlement_id, s.vendor_account_id, s.service_id, s.delegate_id,
      s.account_id as payer_account_id, coalesce(p.owner, incoming.source_account) as payer_owner, s.quote_token,
      s.scope, incoming.resource, incoming.payout_address, s.chain_status
    from refund_reservations r
    join settlements s on s.settlement_id = r.settlement_id
    ${joinIncoming}
    left join payers p on p.wallet_id = s.wallet_id
    where r.refund_id = ${refundId}`);

/** Reserves an amount. False when the refund has a row already: of a repeat, or released before. */
export const insertReservation = async (
  tx: Db,
  row: { refundId: string; settlementId: string; amountMicro: bigint },
): Promise<boolean> => {
  const inserted = await tx.maybeOne(sql.typeAlias('id')`
    with reserved as (
      insert into refund_reservations (refund_id, settlement_id, amount)
      values (${row.refundId}, ${row.settlementId}, ${row.amountMicro})
      on conflict (refund_id) do nothing returning settlement_id, amount
    )
    ${addReserved}`);
  return inserted !== null;
};

/** Releases a reservation once. One that does not exist yet can never be inserted afterwards. */
export const releaseReservation = (db: Db, refundId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with released as (
      insert into refund_reservations as r (refund_id, released_at) values (${refundId}, app_now())
      on conflict (refund_id) do update set released_at = app_now() where r.released_at is null
      returning settlement_id, amount
    )
    ${subtractReleased}`);
