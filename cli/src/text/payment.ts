import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { isPaid, movedOf, type Payment } from '../../../sdk/src/payment.ts';

/** What a payment moves, or will move. */
export const amountText = (payment: Payment): string => displayUsdc(movedOf(payment));

/** What an authorization holds, or held and has released. Empty for another payment. */
export const heldText = (payment: Payment): string => {
  const { status, authorization, quote_amount } = payment;
  if (authorization === undefined) return '';
  const ceiling = displayUsdc(authorization.max_amount);
  if (status === 'authorized') return ceiling;
  if (status === 'capturing') return displayUsdc(quote_amount);
  if (!isPaid(payment)) return `${ceiling} released`;
  return `${displayUsdc(BigInt(authorization.max_amount) - BigInt(quote_amount))} released`;
};
