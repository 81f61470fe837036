import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Deps, wakeKey } from '../deps.ts';
import { transitionTokenAccount } from './store.ts';

export const tokenAccountProgressed =
  ({ pool, waiting }: Pick<Deps, 'pool' | 'waiting'>) =>
  async (event: Progress): Promise<void> => {
    await transitionTokenAccount(pool, event);
    waiting.wake(wakeKey.tokenAccount(event.object_id));
  };
