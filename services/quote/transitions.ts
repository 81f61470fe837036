import { distinctBatches } from '../../shared/lib/distinct-batches.ts';
import type { Deps } from './deps.ts';
import type { Transition } from './domain/quote.ts';
import { transitionQuotes } from './store/quotes.ts';

/** Takes over what became of settlements, in the order in which that was told of each quote. */
export const applyTransitions =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async (transitions: readonly Transition[]): Promise<void> => {
    for (const round of distinctBatches(transitions, ({ quote_id }) => quote_id))
      await transitionQuotes(pool, round);
  };
