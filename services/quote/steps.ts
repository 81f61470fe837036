import { rounds } from '../../shared/lib/rounds.ts';
import type { Deps } from './deps.ts';
import type { Step } from './domain/quote.ts';
import { advanceQuotes } from './store/quotes.ts';

/** Takes over how far settlements have come, in the order in which that was told of each quote. */
export const takeSteps =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async (steps: readonly Step[]): Promise<void> => {
    for (const round of rounds(steps, ({ quote_id }) => quote_id)) await advanceQuotes(pool, round);
  };
