import { notFound } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { findDeposit } from './store/deposits.ts';
import { showDeposit } from './view.ts';

/** GET /v1/deposits/:deposit_id. */
export const getDeposit =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof funding.operations.getDeposit> =>
  async ({ deposit_id }, caller) => {
    const deposit = await findDeposit(pool, caller.account_id, deposit_id);
    if (deposit === null) throw notFound('deposit');
    return showDeposit(deposit);
  };
