import type { Records } from '../../../shared/boot.ts';
import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { complete } from '../../../shared/idempotency/store.ts';
import { newId } from '../../../shared/lib/id.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import type { Peers } from '../peers.ts';
import { amountsOf, preparePayout } from '../quotes/price.ts';
import { scopeOf } from '../quotes/view.ts';
import type { Terms } from '../terms.ts';
import { LIFETIME_MS } from './open-payment-link.ts';
import { insertPaymentLink } from './store.ts';
import { type LinkAddress, showPaymentLink } from './view.ts';

type Deps = Pick<Records, 'pool' | 'clock'> &
  Pick<Terms, 'fee'> &
  LinkAddress &
  Pick<Peers, 'findService' | 'reserveTokenAccount' | 'createPayoutAccount'>;

/** POST /v1/payment-links. */
export const createPaymentLink =
  (deps: Deps): Handler<typeof quote.operations.createPaymentLink> =>
  async ({ service_id, title, quote_amount, single_use = false, success_url = null }, caller, key) => {
    const scope = scopeOf(caller);
    const isInScope = scope.service_id === null || scope.service_id === service_id;
    const service = isInScope ? await deps.findService(service_id) : null;
    if (service === null || service.account_id !== scope.account_id) throw notFound('service');
    if (service.status !== 'active') throw conflict('the service is closing and accepts no new quotes');
    const price = amountsOf(parseMicro(quote_amount ?? service.price), deps.fee);
    // The first buyer must not wait for it, and a vendor who cannot be paid learns it here.
    await preparePayout(deps, service, LIFETIME_MS);
    return deps.pool.transaction(async (tx) => {
      const row = await insertPaymentLink(tx, {
        payment_link_id: newId('pl'),
        account_id: scope.account_id,
        service_id,
        title,
        quote_amount: price.quote_amount,
        quote_id: single_use ? newId('q') : null,
        success_url,
        created_at: deps.clock(),
      });
      const answer = showPaymentLink(deps, row);
      await complete(tx, key, answer);
      return answer;
    });
  };
