import { MAX_QUOTES_LISTED } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { claimUnsure, closeAsked } from '../store/quotes.ts';
import { applyTransitions } from '../transitions.ts';

/**
 * Asks settlement about quotes whose facts may have been lost (a NATS that was wiped): else their displayed status
 * would stay behind for ever. An answer counts as the fact that was missed, so it never undoes a later one. A quote has
 * expired once settlement has said so: at its end a payment that was accepted in time may not have been heard of.
 */
export const askSettlement =
  ({ pool, relay, listByQuotes }: Pick<Deps, 'pool' | 'relay' | 'listByQuotes'>) =>
  async (): Promise<void> => {
    for (;;) {
      const unsure = await claimUnsure(pool, MAX_QUOTES_LISTED);
      if (unsure.length === 0) return;
      const answers = await listByQuotes(unsure);
      await applyTransitions({ pool })(answers.map(({ last_event: event, ...ids }) => ({ ...ids, event })));
      const asked = unsure.map(({ quote_id }) => quote_id);
      relay.dispatch(await closeAsked(pool, asked));
      if (unsure.length < MAX_QUOTES_LISTED) return;
    }
  };
