import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Deps, wakeKey } from '../deps.ts';
import { advanceTokenAccount } from '../store/wallets.ts';

export const tokenAccountProgressed =
  ({ pool, waiting }: Pick<Deps, 'pool' | 'waiting'>) =>
  async (fact: Progress): Promise<void> => {
    await advanceTokenAccount(pool, fact);
    waiting.wake(wakeKey.tokenAccount(fact.object_id));
  };
