import type { Records } from '../../../shared/boot.ts';
import { distinctBatches } from '../../../shared/lib/distinct-batches.ts';
import type { SettlementTransition } from './model/status.ts';
import { transitionQuotes } from './store.ts';

/** Applies transitions of settlements to their quotes: for each quote in the order given. */
export const applyTransitions =
  ({ pool, relay }: Pick<Records, 'pool' | 'relay'>) =>
  async (transitions: readonly SettlementTransition[]): Promise<void> => {
    for (const round of distinctBatches(transitions, ({ quote_id }) => quote_id))
      relay.dispatch(await transitionQuotes(pool, round));
  };
