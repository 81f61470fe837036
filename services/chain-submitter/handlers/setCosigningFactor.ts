import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { changeByOperator } from '../../../shared/operator/actions.ts';
import type { Deps } from '../deps.ts';
import { presentCosigning } from '../limits/number.ts';
import { lockFactor, updateFactor } from '../store/cosigning.ts';

/** Multiplies what an account may have co-signed a day. */
export const setCosigningFactor =
  ({
    pool,
    limits,
  }: Pick<Deps, 'pool' | 'limits'>): Handler<typeof chainSubmitter.internal.setCosigningFactor> =>
  async ({ account_id, factor, ...operator }) => {
    const { changed } = await changeByOperator(pool, operator, {
      action: factor === 1 ? 'budgets.clear' : 'budgets.set',
      target: account_id,
      lock: (tx) => lockFactor(tx, account_id),
      isSo: (before) => before === factor,
      change: (tx) => updateFactor(tx, account_id, factor).then(() => factor),
      show: (state) => ({ factor: state }),
    });
    return { changed, cosigning: await presentCosigning(pool, limits, account_id) };
  };
