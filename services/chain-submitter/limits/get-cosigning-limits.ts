import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { getCosigningUsage } from './cosigning-usage.ts';
import type { Limits } from './fee-budgets.ts';

/**
 * How many transactions an account may have co-signed in a day, and how many were co-signed today.
 */
export const getCosigningLimits =
  ({
    pool,
    limits,
  }: {
    pool: Pool;
    limits: Limits;
  }): Handler<typeof chainSubmitter.internal.getCosigningLimits> =>
  ({ account_id }) =>
    getCosigningUsage(pool, limits, account_id);
