import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/index.ts';
import { MAX_QUOTES_LISTED } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { applyTransitions } from './apply-transitions.ts';
import { claimQuotesToQuery, closeQueriedQuotes } from './store.ts';

type ListByQuotes = typeof settlement.internal.listByQuotes;

export type QuerySettlementDeps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  /** Reads the settlements of quotes from the settlement service. */
  listByQuotes: (
    quotes: readonly { quote_id: string; settlement_id: string | null }[],
  ) => Promise<z.infer<ListByQuotes['output']>>;
};

/**
 * Queries settlement about quotes whose events may have been lost, for instance because NATS lost
 * its storage. Otherwise their status would stay wrong. An answer is applied like the event that
 * was missed, so it never undoes a later one. A quote counts as expired only after settlement has
 * answered, because at the quote's expiry the event of a payment accepted in time may still be in
 * transit.
 */
export const querySettlement =
  ({ pool, relay, listByQuotes }: QuerySettlementDeps) =>
  async (): Promise<void> => {
    for (;;) {
      const claimed = await claimQuotesToQuery(pool, MAX_QUOTES_LISTED);
      if (claimed.length === 0) return;
      const answers = await listByQuotes(claimed);
      await applyTransitions({ pool })(answers.map(({ last_event: event, ...ids }) => ({ ...ids, event })));
      const quoteIds = claimed.map(({ quote_id }) => quote_id);
      relay.dispatch(await closeQueriedQuotes(pool, quoteIds));
      if (claimed.length < MAX_QUOTES_LISTED) return;
    }
  };
