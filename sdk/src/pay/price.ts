/**
 * What one payment costs, and who gets it: of a verified quote, or of a vendor's offer of x402 or
 * MPP. The
 * fields are those of a quote, so every `QuoteClaims` is a `Price`.
 */
export type Price = {
  /** USDC micro-units. */
  quote_amount: string;
  mint: string;
  /** The address that is paid. */
  payout_address: string;
  /** The name of the service, or the host of a vendor that does not use Quittance. */
  service_name: string;
  /** Null for a vendor that does not use Quittance. */
  service_id: string | null;
  /** Null for a vendor that does not use Quittance. */
  quote_id: string | null;
  /** How a vendor that does not use Quittance is paid. A quote has none. */
  rail?: 'x402_out' | 'mpp_out';
};

/** The final decision of the caller on a price that passes all rules. */
export type Approve = (price: Price, call: { method: string; url: string }) => boolean | Promise<boolean>;
