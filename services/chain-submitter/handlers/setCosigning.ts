import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { recordAction } from '../../../shared/db/operator_actions.ts';
import type { Deps } from '../deps.ts';
import { presentCosigning } from '../limits/number.ts';
import { lockFactor, updateFactor } from '../store/cosigning.ts';

/** Multiplies what an account may have co-signed a day, with its record in the same commit. */
export const setCosigning =
  ({ pool, limits }: Pick<Deps, 'pool' | 'limits'>): Handler<typeof chainSubmitter.internal.setCosigning> =>
  async ({ account_id, factor, ...operator }) => {
    const changed = await pool.transaction(async (tx) => {
      const before = await lockFactor(tx, account_id);
      if (before === factor) return false;
      await updateFactor(tx, account_id, factor);
      await recordAction(tx, operator, {
        action: factor === 1 ? 'budgets.clear' : 'budgets.set',
        target: account_id,
        before: { factor: before },
        after: { factor },
      });
      return true;
    });
    return { changed, cosigning: await presentCosigning(pool, limits, account_id) };
  };
