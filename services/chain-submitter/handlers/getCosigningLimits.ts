import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { presentCosigning } from '../limits/number.ts';

/** How many transactions an account may have co-signed a day, and how many it had today. */
export const getCosigningLimits =
  ({
    pool,
    limits,
  }: Pick<Deps, 'pool' | 'limits'>): Handler<typeof chainSubmitter.internal.getCosigningLimits> =>
  ({ account_id }) =>
    presentCosigning(pool, limits, account_id);
