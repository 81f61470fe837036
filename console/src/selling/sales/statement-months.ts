import { amountsOf, type Booking } from '../../../../sdk/src/books.ts';

/** The statement of a vendor by UTC month. Pure; amounts are bigint micro-units. */

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
 * The months with a payment or a refund, newest first. Each counts in the month in which it was
 * confirmed, so a month that is over stays as it is.
 */
export const monthsOf = (bookings: readonly Booking[]): Month[] => {
  const months = new Map<string, Month>();
  for (const booking of bookings) {
    const month = booking.at.slice(0, 7);
    const none = { month, payments: 0, gross: 0n, fees: 0n, refunded: 0n, net: 0n, accrued: 0n };
    const sum = months.get(month) ?? none;
    const { gross, fees, refunded, net, accrued } = amountsOf(booking);
    months.set(month, {
      month,
      payments: sum.payments + (booking.refund === null ? 1 : 0),
      gross: sum.gross + gross,
      fees: sum.fees + fees,
      refunded: sum.refunded + refunded,
      net: sum.net + net,
      accrued: sum.accrued + accrued,
    });
  }
  return [...months.values()].sort((a, b) => (a.month < b.month ? 1 : -1));
};
