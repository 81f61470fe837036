import { type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import type { Payer, Settlement } from './settlement-rows.ts';

/** What a refund has reserved of a settlement. */
export type Reservation = { settlement_id: string | null; amount: bigint; released: boolean };

/** The statements about refunds, with the guards of services/settlement/refunds/store.ts. */
export const reservationModels = (
  harness: Harness,
  {
    settlements,
    payers,
    reservations,
  }: {
    settlements: Map<string, Settlement>;
    payers: Map<string, Payer>;
    reservations: Map<string, Reservation>;
  },
): Model[] => [
  model<{ id: string }>(/from refund_reservations r/, 'id', ({ id }) => {
    const reserved = reservations.get(id);
    const row = settlements.get(reserved?.settlement_id ?? '');
    if (reserved === undefined || row === undefined) return [];
    const { owner } = payers.get(row.wallet_id)!;
    return [{ ...row, ...reserved, payer_account_id: row.account_id, payer_owner: owner }];
  }),
  model<{ id: string }>(
    /refund_reserved\s+from settlements\s+where settlement_id = \$1 and vendor_account_id = \$2/,
    'id _ _',
    ({ id }) => {
      const row = settlements.get(id);
      return row === undefined ? [] : [{ ...row, net_amount: row.quote_amount - row.fee_amount }];
    },
  ),
  model<{ refundId: string; id: string; amount: bigint }>(
    /insert into refund_reservations \(refund_id, settlement_id, amount\)/,
    'refundId id amount',
    ({ refundId, id, amount }) => {
      if (reservations.has(refundId)) return [];
      reservations.set(refundId, { settlement_id: id, amount, released: false });
      settlements.get(id)!.refund_reserved += amount;
      harness.trace('settlements', `${id}: ${amount} reserved for ${refundId}`);
      return [{ id }];
    },
  ),
  model<{ refundId: string }>(
    /insert into refund_reservations as r \(refund_id, released_at\)/,
    'refundId',
    ({ refundId }) => {
      const reserved = reservations.get(refundId);
      if (reserved === undefined)
        reservations.set(refundId, { settlement_id: null, amount: 0n, released: true });
      if (reserved === undefined || reserved.released) return [];
      if (harness.off !== 'reservation released once') reserved.released = true;
      settlements.get(reserved.settlement_id ?? '')!.refund_reserved -= reserved.amount;
      harness.trace('settlements', `${reserved.settlement_id}: ${reserved.amount} of ${refundId} released`);
      return [];
    },
  ),
];
