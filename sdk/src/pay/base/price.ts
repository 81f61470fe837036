import { type Payee, payeesOf } from '../../generated/payees.ts';

/**
 * What one payment costs, and who gets it: of a verified quote, or of a vendor's offer of x402 or
 * MPP. The
 * fields are those of a quote, so every `QuoteClaims` is a `Price`.
 */
export type Price = {
  /** USDC micro-units. */
  quote_amount: string;
  mint: string;
  /** The address that is paid. Of several it is the first one: `payees` has all of them. */
  payout_address: string;
  /**
   * Everybody who is paid by a vendor's offer, which can split the amount. A quote has none, and
   * pays its `payout_address` alone. `payeesOfPrice` reads both.
   */
  payees?: readonly Payee[];
  /** The name of the service, or the host of a vendor that does not use Quittance. */
  service_name: string;
  /** Null for a vendor that does not use Quittance. */
  service_id: string | null;
  /** Null for a vendor that does not use Quittance. */
  quote_id: string | null;
  /** How a vendor that does not use Quittance is paid. A quote has none. */
  rail?: 'x402_out' | 'mpp_out';
};

/** Everybody whom a price pays, and the micro-units of each. Decide by it, not by one address. */
export const payeesOfPrice = ({ payees, payout_address, quote_amount }: Price): readonly Payee[] =>
  payees ?? payeesOf({ pay_to: payout_address, amount: quote_amount });

/** The final decision of the caller on a price that passes all rules. */
export type Approve = (price: Price, call: { method: string; url: string }) => boolean | Promise<boolean>;
