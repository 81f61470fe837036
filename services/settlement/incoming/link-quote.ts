import { invalid } from '../../../shared/contract/errors.ts';
import { LINK_KEY, LinkScope } from '../../../shared/contract/quote.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { readToken } from '../../../shared/lib/tokens/compact-token.ts';
import type { ServiceTerms } from '../terms.ts';
import type { Refusal } from './model/refusal.ts';
import type { IncomingOrder } from './order.ts';
import type { Vendor } from './vendor.ts';

export type LinkQuoteDeps = Pick<ServiceTerms, 'environment' | 'publicKeys' | 'mint'>;

/** A quote of a payment link. Only the quote service signs the key in the scope. */
export type LinkQuote = {
  claims: QuoteClaims;
  inForce: boolean;
  paymentLinkId: string;
  memo: string;
  resource: string;
};

/** @throws ServiceError validation_error for a token that is no quote of a link here */
export const readLinkQuote = (deps: LinkQuoteDeps, token: string): LinkQuote => {
  const read = readToken('quote', token, { env: deps.environment, keys: deps.publicKeys });
  const claims = read.claimsFor('followUp');
  const scope = LinkScope.safeParse(claims.scope);
  if (!scope.success) throw invalid('quote_token', 'is not the quote of a payment link');
  if (claims.mint !== deps.mint) throw invalid('quote_token', 'is not a quote of this network');
  const inForce = read.claimsFor('newPayment') !== null;
  const { resource, [LINK_KEY]: link } = scope.data;
  return { claims, inForce, paymentLinkId: link.payment_link_id, memo: link.memo, resource };
};

/** The vendor as the quote names it. What closes or freezes it is read before an acceptance. */
const vendorOf = ({ vendor_account_id, service_id, service_name, payout_address }: QuoteClaims): Vendor => ({
  accountId: vendor_account_id,
  serviceId: service_id,
  serviceName: service_name,
  payoutAddress: payout_address,
  closing: false,
  frozen: false,
});

export const EXPIRED: Refusal = {
  reason: 'quote_expired',
  message: 'the quote has expired; open the link again',
};

/** Whether its price still holds. */
export const isPayable = ({ claims, inForce }: LinkQuote, now: number): boolean =>
  inForce && Date.parse(claims.expires_at) > now;

/**
 * What the transaction must do that pays the quote.
 * @param pageHandle of the page that is told of the payment
 */
export const orderOfLink = (
  { claims, paymentLinkId, memo, resource }: LinkQuote,
  { transaction, pageHandle }: { transaction: string; pageHandle: string },
): IncomingOrder => ({
  rail: 'x402',
  vendor: vendorOf(claims),
  amountMicro: parseMicro(claims.quote_amount),
  feeMicro: 0n,
  transaction,
  memo,
  resource,
  externalId: null,
  link: { paymentLinkId, pageHandle, quoteId: claims.quote_id, scope: claims.scope },
});
