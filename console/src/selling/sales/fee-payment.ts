import { ApiError, type Output } from '../../../../sdk/src/main.ts';

/** The payment of the fees that x402 payments accrue. Amounts are micro-units. */

type Fees = Output<'settlement.getFees'>;

/** A quote of the owed fees, and the attempt that pays it. */
export type FeePayment = { quote: Output<'settlement.createFeeQuote'>; attemptId: string };

/**
 * The payments of fees that were sent and whose outcome is open, by account. They outlive their
 * page, so that the same attempt is repeated and not replaced.
 */
export const undecidedPayments = new Map<string, FeePayment>();

/** Whether more than 80 % of the credit is used, so that x402 payments are soon refused. */
export const isCreditLow = ({ owed, credit }: Fees): boolean => BigInt(owed) * 100n > BigInt(credit) * 80n;

export const newFeePayment = (quote: FeePayment['quote']): FeePayment => ({
  quote,
  attemptId: crypto.randomUUID(),
});

/**
 * How to go on after a failed settle. Unless it is certain that no money moved, the same attempt is
 * repeated, because a new one could pay twice.
 * @param now milliseconds
 * @returns null when a new quote is needed
 */
export const afterFailure = (payment: FeePayment, error: unknown, now: number): FeePayment | null => {
  if (!(error instanceof ApiError) || error.moneyMoved !== 'no') return payment;
  const isOver = error.code === 'quote_expired' || Date.parse(payment.quote.expires_at) <= now;
  return isOver ? null : newFeePayment(payment.quote);
};
