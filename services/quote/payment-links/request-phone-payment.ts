import { ERRORS, ServiceError } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { clientOfCall } from '../../../shared/lib/call-client.ts';
import { displayUsdc } from '../../../shared/lib/money/usdc.ts';
import type { Peers } from '../peers.ts';
import { deleteUnusedLinkQuote } from '../quotes/store.ts';
import { findPhoneLink } from './describe-phone-payment.ts';
import { type OpeningDeps, openLink, prepareForBuyer } from './open-payment-link.ts';

type Deps = OpeningDeps & Pick<Peers, 'payLinkByPhone'>;

/** Whether settlement has refused, so that nobody has a transaction of the quote. */
const isRefusal = (error: unknown): boolean => error instanceof ServiceError && ERRORS[error.code].http < 500;

/**
 * POST of a transaction request of Solana Pay. The quote is of this call alone, so that no other
 * buyer can take its claim. Quote and payment are committed before our fee payer signs.
 */
export const requestPhonePayment =
  (deps: Deps): Handler<typeof quote.operations.requestPhonePayment> =>
  async ({ payment_link_id, handle, account }) => {
    const found = await findPhoneLink(deps, payment_link_id);
    // Until it exists, settlement answers 503 with Retry-After.
    await prepareForBuyer(deps, found.service);
    const { quote_id, quote_token } = await openLink(deps, found);
    try {
      const asked_from = clientOfCall()?.address ?? null;
      const asked = { handle, quote_token, account, asked_from };
      const { transaction } = await deps.payLinkByPhone(asked);
      const { link, service } = found;
      const message = `${link.title}: ${displayUsdc(link.quote_amount)} to ${service.name}`;
      return { transaction, message };
    } catch (error) {
      // A lost answer leaves the quote, which is deleted when it can no longer be paid.
      if (isRefusal(error)) await deleteUnusedLinkQuote(deps.pool, quote_id);
      throw error;
    }
  };
