import { storedClaims } from '../../checks/tokens.ts';
import type { Payee } from '../../generated/payees.ts';
import { sharedMap } from '../../shared-map.ts';
import { type Price, payeesOfPrice } from './price.ts';
import { isAuthorization } from './rules.ts';
import type { PaymentRecord } from './store.ts';

/** What was paid, as plain JSON. */
export type Receipt = {
  settlementId: string;
  /** `quittance`, or the protocol of a vendor that does not use Quittance. */
  rail: 'quittance' | 'x402_out' | 'mpp_out';
  /** The gross amount, USDC micro-units. With `authorized` it is a ceiling. */
  amountMicro: string;
  /** Set if nothing is paid yet: the vendor captures what is used. `usageOf` shows what it is. */
  authorized?: true;
  /** Null for a vendor that does not use Quittance, as is the service. */
  quoteId: string | null;
  serviceId: string | null;
  /** The name of the service, or the host of the vendor. */
  vendorName: string;
  /** The address that was paid. Of several it is the first one. */
  vendorAddress: string;
  /**
   * Everybody who was paid, and the micro-units of each. Of a quote, the service with all of it.
   */
  payees: readonly Payee[];
  /** The signature of the transaction on chain. Null if it is not known yet. */
  transaction: string | null;
  /**
   * False while only the vendor says that it was paid. `settlement.get` reads what the chain says.
   */
  confirmed: boolean;
};
type Outcome = Pick<Receipt, 'settlementId' | 'rail' | 'transaction' | 'confirmed' | 'authorized'>;

const receipts = sharedMap<Response, Receipt>('receipts');

export const receiptFrom = (price: Price, outcome: Outcome): Receipt => ({
  ...outcome,
  amountMicro: price.quote_amount,
  quoteId: price.quote_id,
  serviceId: price.service_id,
  vendorName: price.service_name,
  vendorAddress: price.payout_address,
  payees: payeesOfPrice(price),
});

/** The receipt of a quote that a record has paid. Null if it uses what another request has paid. */
export const receiptIn = ({ quoteToken, extended, settlement, txHash }: PaymentRecord): Receipt | null => {
  const paid = extended ?? quoteToken;
  if (paid === null || settlement === null) return null;
  const quote = storedClaims(paid);
  const isOpen = isAuthorization(quote);
  return receiptFrom(quote, {
    settlementId: settlement.settlement_id,
    rail: 'quittance',
    transaction: txHash ?? null,
    confirmed: !isOpen,
    ...(isOpen && { authorized: true }),
  });
};

/** Attaches a receipt to the answer that the payment was presented for. */
export const withReceipt = (response: Response, receipt: Receipt | null): Response => {
  if (receipt !== null) receipts.set(response, receipt);
  return response;
};

/**
 * The receipt of an answer of `payingFetch`. Null if nothing was bought for it: it was free, or it
 * used units of a prepaid settlement. The answer itself is a standard Response, so a copy that
 * `clone` makes has no receipt.
 */
export const receiptOf = (response: Response): Receipt | null => receipts.get(response) ?? null;
