import type { Records } from '../../../shared/boot.ts';
import { conflict, notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import type { Peers, Service } from '../peers.ts';
import { newQuote, type QuoteSigner } from '../quotes/new-quote.ts';
import { amountsOf, preparePayout } from '../quotes/price.ts';
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

/** How long a buyer may pay the quote of an opening. */
export const LIFETIME_MS = 600_000;
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

/** Makes sure that the vendor can be paid now or within seconds, in words for a buyer. */
export const prepareForBuyer = async (deps: OpeningDeps, service: Service): Promise<void> => {
  try {
    await preparePayout(deps, service, LIFETIME_MS);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
    const { retryAfterSeconds } = error.extras;
    throw conflict('this vendor cannot be paid at the moment; ask the vendor', {
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
};

/** Signs and records the quote of an opening, whose vendor can be paid. */
export const openLink = async (
  deps: OpeningDeps,
  { link, service }: Awaited<ReturnType<typeof findPayableLink>>,
): Promise<NewQuote> => {
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
    const found = await findPayableLink(deps, payment_link_id);
    // The account of a link from before exists when the buyer has signed.
    await prepareForBuyer(deps, found.service);
    const { quote_token } = await openLink(deps, found);
    return { quote_token };
  };
