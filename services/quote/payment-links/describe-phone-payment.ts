import { conflict } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Peers } from '../peers.ts';
import { findPayableLink, type OpeningDeps } from './open-payment-link.ts';

type Deps = Pick<OpeningDeps, 'pool' | 'publicUrl'> & Pick<Peers, 'findService'>;

/**
 * A link that a phone can pay. Whoever asks for a transaction gets one before the buyer signs, so
 * it would hold a link for one payment closed (docs/adr/0080).
 * @throws ServiceError not_found, conflict
 */
export const findPhoneLink = async (
  deps: Pick<Deps, 'pool' | 'findService'>,
  paymentLinkId: string,
): ReturnType<typeof findPayableLink> => {
  const found = await findPayableLink(deps, paymentLinkId);
  if (found.link.quote_id !== null)
    throw conflict('this payment link is for one payment; open its page in the browser of your wallet');
  return found;
};

/** GET of a transaction request of Solana Pay. */
export const describePhonePayment =
  (deps: Deps): Handler<typeof quote.operations.describePhonePayment> =>
  async ({ payment_link_id }) => {
    const { link, service } = await findPhoneLink(deps, payment_link_id);
    return { label: `${service.name}: ${link.title}`, icon: `${deps.publicUrl}/favicon.svg` };
  };
