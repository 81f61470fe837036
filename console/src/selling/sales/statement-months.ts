import { isPaid, keptOf, type Refunded, type Settlement } from '../../payments/sales-figures.ts';

/** The statement of a vendor by UTC month of the payment. Pure; amounts are bigint micro-units. */

export type Month = {
  /** `2026-11` */
  month: string;
  payments: number;
  gross: bigint;
  fees: bigint;
  refunded: bigint;
  /** What is left after all fees and refunds. */
  net: bigint;
  /** Fees of x402 payments, which are paid separately. */
  accrued: bigint;
};

/**
 * The months with a payment, newest first. A payment that failed or was reversed does not count.
 */
export const monthsOf = (settlements: readonly Settlement[], refundedOf: Refunded): Month[] => {
  const months = new Map<string, Month>();
  for (const settlement of settlements) {
    if (!isPaid(settlement)) continue;
    const month = settlement.created_at.slice(0, 7);
    const sum = months.get(month) ?? {
      month,
      payments: 0,
      gross: 0n,
      fees: 0n,
      refunded: 0n,
      net: 0n,
      accrued: 0n,
    };
    const refunded = refundedOf.get(settlement.settlement_id) ?? 0n;
    months.set(month, {
      month,
      payments: sum.payments + 1,
      gross: sum.gross + BigInt(settlement.quote_amount),
      fees: sum.fees + BigInt(settlement.fee_amount),
      refunded: sum.refunded + refunded,
      net: sum.net + keptOf(settlement, refunded),
      accrued: sum.accrued + BigInt(settlement.accrued_fee ?? 0),
    });
  }
  return [...months.values()].sort((a, b) => (a.month < b.month ? 1 : -1));
};
