import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { movedDevFund } from '../moved.ts';
import { devFundsLanded } from '../store/dev_funds.ts';

/** int.funding.listMoved. */
export const listMoved =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof funding.internal.listMoved> =>
  async (page) =>
    (await devFundsLanded(pool, page)).map((row) => movedDevFund(row)!);
