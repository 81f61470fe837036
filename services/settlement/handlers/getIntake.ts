import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { presentIntake } from '../intake.ts';
import { pausedSince } from '../store/settling.ts';

/** Internal: whether payments are paused, for an operator. */
export const getIntake =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.getIntake> =>
  async () =>
    presentIntake(pool, await pausedSince(pool));
