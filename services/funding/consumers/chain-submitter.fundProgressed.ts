import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Deps, wakeKey } from '../deps.ts';
import { advanceDevFund } from '../store/dev_funds.ts';

export const fundProgressed =
  ({ pool, waiting }: Pick<Deps, 'pool' | 'waiting'>) =>
  async (fact: Progress): Promise<void> => {
    await advanceDevFund(pool, fact);
    waiting.wake(wakeKey.fund(fact.object_id));
  };
