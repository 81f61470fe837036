import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Deps, wakeKey } from '../deps.ts';
import { advancePreparation } from '../store/preparations.ts';

export const delegationProgressed =
  ({ pool, waiting }: Pick<Deps, 'pool' | 'waiting'>) =>
  async (fact: Progress): Promise<void> => {
    await advancePreparation(pool, fact);
    waiting.wake(wakeKey.preparation(fact.object_id));
  };
