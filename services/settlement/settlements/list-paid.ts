import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { settlementsIssued } from './store/settlements.ts';
import { showPaid } from './view.ts';

/** int.settlement.listPaid. */
export const listPaid =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.listPaid> =>
  async (page) =>
    (await settlementsIssued(pool, page)).map(showPaid);
