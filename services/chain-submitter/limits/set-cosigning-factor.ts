import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { changeByOperator } from '../../../shared/operator/actions.ts';
import { getCosigningUsage } from './cosigning-usage.ts';
import type { Limits } from './fee-budgets.ts';
import { lockFactor, upsertFactor } from './store/cosigning_factors.ts';

/** Multiplies the daily number of co-signatures of an account. */
export const setCosigningFactor =
  ({
    pool,
    limits,
  }: {
    pool: Pool;
    limits: Limits;
  }): Handler<typeof chainSubmitter.internal.setCosigningFactor> =>
  async ({ account_id, factor, ...operator }) => {
    const { changed } = await changeByOperator(pool, operator, {
      action: factor === 1 ? 'budgets.clear' : 'budgets.set',
      target: account_id,
      lock: (tx) => lockFactor(tx, account_id),
      isSo: (before) => before === factor,
      change: (tx) => upsertFactor(tx, account_id, factor).then(() => factor),
      show: (state) => ({ factor: state }),
    });
    return { changed, cosigning: await getCosigningUsage(pool, limits, account_id) };
  };
