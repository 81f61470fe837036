import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { settlementsIssuedOf } from '../store/settlements.ts';
import { showPaid } from '../view.ts';

/** int.settlement.listPaidByIds. */
export const listPaidByIds =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.listPaidByIds> =>
  async ({ settlement_ids }) =>
    (await settlementsIssuedOf(pool, settlement_ids)).map(showPaid);
