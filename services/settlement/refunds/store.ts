import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { chainStatuses, statuses } from '../settlements/model/status.ts';

/**
 * Condition of the redeeming statement: something of the net is not taken by refunds
 * (docs/spec/decisions.md, Funding).
 */
export const redeemable = sql.fragment`refund_reserved < quote_amount - fee_amount`;
/** Condition of the consuming one, stricter: what was prepaid is not drawn down while any of it is to go back. */
export const unreserved = sql.fragment`refund_reserved = 0`;

const Reservation = z.object({
  amount: z.bigint(),
  released: z.boolean(),
  settlement_id: z.string(),
  vendor_account_id: z.string(),
  service_id: z.string(),
  delegate_id: z.string().nullable(),
  payer_account_id: z.string(),
  payer_owner: z.string(),
  quote_token: z.string(),
  chain_status: z.enum(chainStatuses.states),
});
export type ReservationRow = z.infer<typeof Reservation>;

/** A reservation with what its refund needs of the settlement, or null. */
export const findReservation = (db: Db, refundId: string): Promise<ReservationRow | null> =>
  db.maybeOne(sql.type(Reservation)`
    select r.amount, r.released_at is not null as released, s.settlement_id, s.vendor_account_id, s.service_id, s.delegate_id,
      s.account_id as payer_account_id, p.owner as payer_owner, s.quote_token, s.chain_status
    from refund_reservations r
    join settlements s on s.settlement_id = r.settlement_id
    join payers p on p.wallet_id = s.wallet_id
    where r.refund_id = ${refundId}`);

const Locked = z.object({
  status: z.enum(statuses.states),
  chain_status: z.enum(chainStatuses.states),
  net_amount: z.bigint(),
  refund_reserved: z.bigint(),
});

/**
 * What a refund may be of, locked until the transaction ends, so that racing refunds are judged one after the other
 * and a redeem waits for the verdict. Null: not this vendor's.
 * @param serviceId null: any service of the account
 */
export const lockRefundable = (
  tx: Db,
  settlementId: string,
  { accountId, serviceId }: { accountId: string; serviceId: string | null },
): Promise<z.infer<typeof Locked> | null> =>
  tx.maybeOne(sql.type(Locked)`
    select status, chain_status, quote_amount - fee_amount as net_amount, refund_reserved
    from settlements
    where settlement_id = ${settlementId} and vendor_account_id = ${accountId}
      ${serviceId === null ? sql.fragment`` : sql.fragment`and service_id = ${serviceId}`}
    for update`);

/** Takes an amount for a refund. False when the refund has a row already: taken by a repeat, or released before. */
export const insertReservation = async (
  tx: Db,
  row: { refundId: string; settlementId: string; amountMicro: bigint },
): Promise<boolean> => {
  const taken = await tx.maybeOne(sql.typeAlias('id')`
    with reserved as (
      insert into refund_reservations (refund_id, settlement_id, amount)
      values (${row.refundId}, ${row.settlementId}, ${row.amountMicro})
      on conflict (refund_id) do nothing returning settlement_id, amount
    )
    update settlements set refund_reserved = refund_reserved + reserved.amount
    from reserved where settlements.settlement_id = reserved.settlement_id
    returning settlements.settlement_id as id`);
  return taken !== null;
};

/**
 * Gives a reservation back, once; one that is not there yet is kept from being made. What is reserved is counted from as it is
 * locked (see moveDelegate): the reservation may have been made while this waited.
 */
export const releaseReservation = (db: Db, refundId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with released as (
      insert into refund_reservations as r (refund_id, released_at) values (${refundId}, app_now())
      on conflict (refund_id) do update set released_at = app_now() where r.released_at is null
      returning settlement_id, amount
    )
    update settlements set refund_reserved = locked.refund_reserved - released.amount
    from released, (
      select settlement_id, refund_reserved from settlements
      where settlement_id = (select settlement_id from released) for no key update
    ) as locked
    where settlements.settlement_id = locked.settlement_id`);
