import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import type { Output } from '../../../sdk/src/types.ts';

/** What a list shows of a payment, in the words of the console. */

type Payment = Pick<
  Output<'settlement.get'>,
  'status' | 'chain_status' | 'rail' | 'quote_amount' | 'authorization' | 'extends' | 'redeem_expires_at'
>;

const WORDS: Record<Payment['status'], string> = {
  pending: 'pending',
  authorized: 'authorized',
  capturing: 'pending',
  issued: 'paid',
  redeemed: 'delivered',
  expired: 'not delivered',
  voided: 'void',
  merged: 'extension',
  failed: 'failed',
};

/** One word for the state of a payment. @param now milliseconds */
export const stateWord = (payment: Payment, now: number): string => {
  const { status, chain_status, rail, redeem_expires_at } = payment;
  if (status !== 'failed' && chain_status === 'failed') return 'reversed';
  if (status !== 'issued') return WORDS[status];
  // A vendor elsewhere delivers on its own terms.
  if (rail === 'x402_out' || rail === 'mpp_out') return WORDS.issued;
  // A payment of another protocol has no redeem window.
  const isOver = rail !== 'quittance' || (redeem_expires_at !== null && Date.parse(redeem_expires_at) <= now);
  return WORDS[isOver ? 'expired' : 'issued'];
};

const isPaid = ({ status, chain_status }: Payment): boolean =>
  ['issued', 'redeemed', 'expired'].includes(status) && chain_status !== 'failed';

/**
 * What a payment moves, or will move. Of an authorization it is what was captured, and nothing
 * before. An extension moves nothing: what it adds to the ceiling of another one has a plus sign.
 */
export const amountText = (payment: Payment): string => {
  if (payment.status === 'merged') return `+${displayUsdc(payment.quote_amount)}`;
  return displayUsdc(payment.authorization !== undefined && !isPaid(payment) ? '0' : payment.quote_amount);
};

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
