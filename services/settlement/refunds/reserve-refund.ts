import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';
import { storedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import { itemOfPayment } from '../record/model/item.ts';
import { isPaid } from '../record/model/status.ts';
import { lockRefundable } from '../record/store/refundable.ts';
import { refundOf } from './model.ts';
import { findReservation, insertReservation, type ReservationRow } from './store.ts';

const show = (row: ReservationRow) => ({
  amount: formatMicro(row.amount),
  service_id: row.service_id,
  delegate_id: row.delegate_id,
  payout_address: row.payout_address ?? storedClaims(row.quote_token!).payout_address,
  item: itemOfPayment(row),
  payer: { account_id: row.payer_account_id, owner: row.payer_owner },
  paid: isPaid(row.chain_status),
});

/** int.settlement.reserveRefund. */
export const reserveRefund =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.reserveRefund> =>
  async ({ refund_id, settlement_id, account_id, service_id, amount }) => {
    const existing = await findReservation(pool, refund_id);
    if (existing === null) {
      await pool.transaction(async (tx) => {
        const vendor = { accountId: account_id, serviceId: service_id };
        const row = await lockRefundable(tx, settlement_id, vendor);
        if (row === null) throw notFound('settlement');
        const { status, chain_status: chain, net_amount: netMicro, refund_reserved: reservedMicro } = row;
        const wanted = amount === null ? null : parseMicro(amount);
        const refund = refundOf({ status, chain, netMicro, reservedMicro }, wanted);
        if ('refused' in refund) throw conflict(refund.refused);
        const { amountMicro } = refund;
        await insertReservation(tx, { refundId: refund_id, settlementId: settlement_id, amountMicro });
      });
    }
    const reserved = existing ?? (await findReservation(pool, refund_id));
    if (reserved === null || reserved.released) throw conflict('the reservation of this refund was released');
    return show(reserved);
  };
