import type { Records } from '../../../shared/boot.ts';
import { conflict, notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { Peers, Service } from '../peers.ts';
import { newQuote, type QuoteSigner } from '../quotes/new-quote.ts';
import { amountsOf, reservePayout } from '../quotes/price.ts';
import { type NewQuote, upsertLinkQuote } from '../quotes/store.ts';
import type { Terms } from '../terms.ts';
import { scopeOfLink } from './model.ts';
import { findOpenedLink, type OpenedLink } from './store.ts';
import { type LinkAddress, urlOf } from './view.ts';

export type OpeningDeps = Pick<Records, 'pool' | 'clock'> &
  Pick<Terms, 'fee'> &
  QuoteSigner &
  LinkAddress &
  Pick<Peers, 'findService' | 'reserveTokenAccount' | 'createPayoutAccount'>;

const LIFETIME_MS = 600_000;
/** The platform redeems the payment itself, within seconds unless services are unavailable. */
const REDEEM_WINDOW_SECONDS = 86_400;

const alreadyPaid = (): ServiceError =>
  new ServiceError(
    'quote_already_settled',
    'this payment link is for one payment, which was made or is being made',
  );

/** A link that can be paid, with its service. @throws ServiceError not_found, conflict */
export const findPayableLink = async (
  deps: Pick<OpeningDeps, 'pool' | 'findService'>,
  paymentLinkId: string,
): Promise<{ link: OpenedLink; service: Service }> => {
  const link = await findOpenedLink(deps.pool, paymentLinkId);
  if (link === null) throw notFound('payment link');
  if (link.is_paid) throw alreadyPaid();
  const service = await deps.findService(link.service_id);
  if (link.deactivated_at !== null || service === null || service.status !== 'active')
    throw conflict('this payment link is not active any more; ask the vendor for a new one');
  return { link, service };
};

/** Signs and records the quote of an opening. */
export const openLink = async (
  deps: OpeningDeps,
  { link, service }: Awaited<ReturnType<typeof findPayableLink>>,
): Promise<NewQuote> => {
  // The transaction of a wallet cannot create it, so it is created before the buyer has signed.
  if (!(await reservePayout(deps, service, LIFETIME_MS)))
    await deps.createPayoutAccount({ account_id: service.account_id, owner: service.payout_address });
  const quoteId = link.quote_id ?? newId('q');
  const now = deps.clock();
  const terms = {
    ...amountsOf(link.quote_amount, deps.fee),
    redeem_window_seconds: REDEEM_WINDOW_SECONDS,
    created_at: now,
    expires_at: now + LIFETIME_MS,
  };
  const scope = scopeOfLink(link, {
    url: urlOf(deps, link),
    serviceName: service.name,
    amountMicro: link.quote_amount,
    quoteId,
  });
  const row = newQuote(deps, service, terms, { scope, quoteId });
  if (!(await upsertLinkQuote(deps.pool, row, link.payment_link_id))) throw alreadyPaid();
  count('quittance_quotes_total', 1);
  return row;
};

/**
 * POST /v1/payment-links/:payment_link_id/quote. A link for one payment has one quote, which is
 * signed anew: whoever pays it first has the claim, wherever and however often the page is open.
 */
export const openPaymentLink =
  (deps: OpeningDeps): Handler<typeof quote.operations.openPaymentLink> =>
  async ({ payment_link_id }) => {
    const { quote_token } = await openLink(deps, await findPayableLink(deps, payment_link_id));
    return { quote_token };
  };
