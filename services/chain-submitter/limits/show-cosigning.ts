import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { presentCosigning } from './cosigning-usage.ts';

/** How many transactions an account may have co-signed a day, and how many it had today. */
export const showCosigning =
  ({ pool, limits }: Pick<Deps, 'pool' | 'limits'>): Handler<typeof chainSubmitter.internal.showCosigning> =>
  ({ account_id }) =>
    presentCosigning(pool, limits, account_id);
