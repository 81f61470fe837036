import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Deps } from '../deps.ts';
import { takeOver } from './transfer.ts';

/**
 * What a failed refund had reserved is given back by the job: an event must not wait for another
 * service.
 */
export const refundProgressed =
  (deps: Pick<Deps, 'pool' | 'relay' | 'waiting'>) =>
  (event: Progress): Promise<void> =>
    takeOver(deps, 'refund', event);
