import type { QuoteClaims } from '../../../../shared/contract/tokens.ts';
import { type Payee, payeesOf } from '../../../../shared/lib/money/payees.ts';

/**
 * Whom the payment of a quote pays, as its payer sees it: the service with the whole amount,
 * because the platform's fee is a part of what the service charges.
 */
export const payeesOfQuote = ({
  payout_address,
  quote_amount,
}: Pick<QuoteClaims, 'payout_address' | 'quote_amount'>): Payee[] =>
  payeesOf({ pay_to: payout_address, amount: quote_amount });
