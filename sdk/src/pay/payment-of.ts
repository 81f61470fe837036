import type { Price } from './price.ts';

/** The receipt of what was paid for an answer. */
export type Payment = {
  settlement_id: string;
  /** `quittance`, or `x402_out` for a vendor that does not use Quittance. */
  rail: 'quittance' | 'x402_out';
  /** USDC micro-units. */
  amount: string;
  /** The address that was paid. */
  payee: string;
  /** The name of the service, or the host of the vendor. */
  payee_name: string;
  /** Null if it is not known yet. */
  tx_hash: string | null;
  /**
   * False while only the vendor says that it was paid. `settlement.get` reads what the chain says.
   */
  confirmed: boolean;
};

const payments = new WeakMap<Response, Payment>();

export const paymentFrom = (
  price: Price,
  { settlement_id, rail, tx_hash, confirmed }: Omit<Payment, 'amount' | 'payee' | 'payee_name'>,
): Payment => ({
  settlement_id,
  rail,
  amount: price.quote_amount,
  payee: price.payout_address,
  payee_name: price.service_name,
  tx_hash,
  confirmed,
});

/** Attaches a payment to the answer that it was presented for. */
export const withPayment = (response: Response, payment: Payment | null): Response => {
  if (payment !== null) payments.set(response, payment);
  return response;
};

/**
 * The payment that an answer of `payingFetch` was bought with. Null if nothing was bought for it:
 * it was free, or it used units of a prepaid settlement.
 */
export const paymentOf = (response: Response): Payment | null => payments.get(response) ?? null;
