import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Deps, wakeKey } from '../deps.ts';
import { transitionPreparation } from './store/preparations.ts';

export const delegationProgressed =
  ({ pool, waiting }: Pick<Deps, 'pool' | 'waiting'>) =>
  async (event: Progress): Promise<void> => {
    await transitionPreparation(pool, event);
    waiting.wake(wakeKey.preparation(event.object_id));
  };
