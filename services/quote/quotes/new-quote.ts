import type { CaptureTerms } from '../../../shared/contract/quote/capture.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { signToken, storedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import type { Service } from '../peers.ts';
import type { Terms } from '../terms.ts';
import type { NewQuote } from './store.ts';

/** What the token of a quote is signed with, and for. */
export type QuoteSigner = Pick<Terms, 'environment' | 'mint' | 'signingKey'>;

/** Who is paid by a quote. */
type Vendor = {
  account_id: string;
  service_id: string;
  name: string;
  payout_address: string;
  domain: Pick<NonNullable<Service['domain']>, 'status' | 'display_name'> | null;
};

/**
 * The row of a new quote, with its signed token.
 * @param quoteId of a payment link for one payment, whose quote is signed again
 */
export const newQuote = (
  { environment, mint, signingKey }: QuoteSigner,
  service: Vendor,
  terms: Pick<
    NewQuote,
    'quote_amount' | 'fee_amount' | 'redeem_window_seconds' | 'created_at' | 'expires_at'
  >,
  {
    scope,
    capture = null,
    quoteId = newId('q'),
    extended,
  }: Pick<QuoteClaims, 'scope'> & {
    capture?: CaptureTerms | null;
    quoteId?: string | undefined;
    /** The quote whose authorization the new one extends. */
    extended?: string | undefined;
  },
): NewQuote => {
  const claims = {
    env: environment,
    quote_id: quoteId,
    vendor_account_id: service.account_id,
    service_id: service.service_id,
    service_name: service.name,
    ...(service.domain?.status === 'verified' && { service_domain: service.domain.display_name }),
    payout_address: service.payout_address,
    mint,
    quote_amount: formatMicro(terms.quote_amount),
    fee_amount: formatMicro(terms.fee_amount),
    currency: 'USDC' as const,
    issued_at: isoTime(terms.created_at),
    expires_at: isoTime(terms.expires_at),
    redeem_window_seconds: terms.redeem_window_seconds,
    scope,
    ...(capture !== null && { capture }),
    ...(extended !== undefined && { extends: extended }),
  };
  return {
    ...terms,
    quote_id: quoteId,
    account_id: service.account_id,
    service_id: service.service_id,
    quote_token: signToken('quote', claims, signingKey),
  };
};

/** The ceiling of a quote with `capture`, and its terms, which the signed token alone has. */
export const ceilingOf = ({ quote_token }: Pick<NewQuote, 'quote_token'>) => {
  const { quote_amount, capture, extends: extended } = storedClaims(quote_token);
  if (capture === undefined) return {};
  return { max_amount: quote_amount, capture, ...(extended !== undefined && { extends: extended }) };
};

/** A new quote as its vendor reads it. */
export const showNewQuote = (row: NewQuote) => ({
  quote_id: row.quote_id,
  quote_token: row.quote_token,
  quote_amount: formatMicro(row.quote_amount),
  fee_amount: formatMicro(row.fee_amount),
  currency: 'USDC' as const,
  expires_at: isoTime(row.expires_at),
  status: 'pending' as const,
  ...ceilingOf(row),
});
