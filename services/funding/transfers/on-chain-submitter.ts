import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Deps } from '../deps.ts';
import { takeOver } from './transfer.ts';

export const withdrawalProgressed =
  (deps: Pick<Deps, 'pool' | 'relay' | 'waiting'>) =>
  (event: Progress): Promise<void> =>
    takeOver(deps, 'withdrawal', event);
