import type { Records } from '../../../shared/boot.ts';
import { MAX_QUOTES_LISTED } from '../../../shared/contract/settlement.ts';
import type { Peers } from '../peers.ts';
import { applyTransitions } from './apply-transitions.ts';
import { claimQuotesToQuery, closeQueriedQuotes, deleteUnpaidLinkQuotes } from './store.ts';

type Deps = Pick<Records, 'pool' | 'relay'> & Pick<Peers, 'listByQuotes'>;

/**
 * Queries settlement about quotes that are to expire. A quote counts as expired only after
 * settlement has answered, because at the quote's expiry the event of a payment accepted in time
 * may still be in transit, or lost (shared/events/catch-up.ts reads it again later). An answer is
 * applied like the event, so it never undoes a later one.
 */
export const querySettlement =
  ({ pool, relay, listByQuotes }: Deps) =>
  async (): Promise<void> => {
    for (;;) {
      const claimed = await claimQuotesToQuery(pool, MAX_QUOTES_LISTED);
      if (claimed.length === 0) return;
      const answers = await listByQuotes(claimed);
      await applyTransitions({ pool, relay })(
        answers.map(({ last_event: event, ...ids }) => ({ ...ids, event })),
      );
      const quoteIds = claimed.map(({ quote_id }) => quote_id);
      await deleteUnpaidLinkQuotes(pool, quoteIds);
      relay.dispatch(await closeQueriedQuotes(pool, quoteIds));
      if (claimed.length < MAX_QUOTES_LISTED) return;
    }
  };
