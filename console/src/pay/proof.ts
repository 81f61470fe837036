import type { ReceiptClaims } from '../../../sdk/src/checks/receipt.ts';
import { outcomeOf } from '../receipt/verify.ts';
import type { LinkAddress } from './link.ts';

/**
 * What a page may say of a payment comes from the signed receipt alone, compared with what the page
 * has offered.
 */

/** What a page of a link has offered, by its signed quote. */
export type Offered = {
  /** Micro-units. */
  amount: string;
  /** The address that is paid. */
  payee: string;
};

/** Whether a verified receipt is of this payment, for this link, price and payee. */
export const isReceiptOf = (
  { env, settlement_id, payment_link_id, amount, vendor, chain_status }: ReceiptClaims,
  settlementId: string,
  { environment, paymentLinkId, ...offered }: LinkAddress & Offered,
): boolean =>
  env === environment &&
  settlement_id === settlementId &&
  payment_link_id === paymentLinkId &&
  amount.gross === offered.amount &&
  vendor.payees.length === 1 &&
  vendor.payees[0]!.address === offered.payee &&
  chain_status !== 'failed';

/**
 * What a receipt proves: the payment of what the page has offered, or something else. Null: it
 * cannot be verified now, or there is none yet.
 */
export const proofIn = async (
  receiptUrl: string | null,
  settlementId: string,
  offered: LinkAddress & Offered,
): Promise<'paid' | 'other' | null> => {
  if (receiptUrl === null) return null;
  const outcome = await outcomeOf(new URL(receiptUrl).hash.slice(1));
  if (outcome.is === 'unverified') return null;
  return outcome.is === 'valid' && isReceiptOf(outcome.claims, settlementId, offered) ? 'paid' : 'other';
};
