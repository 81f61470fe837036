import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { presentSettling } from '../settling.ts';
import { pausedSince } from '../store/settling.ts';

/** Internal: whether new payments are taken, for an operator. */
export const showSettling =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.showSettling> =>
  async () =>
    presentSettling(pool, await pausedSince(pool));
