import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { showMoved } from '../transfers/events.ts';
import { listMovedRows } from './store.ts';

/** int.funding.listMoved. */
export const listMoved =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof funding.internal.listMoved> =>
  async (page) =>
    (await listMovedRows(pool, page)).map(showMoved);
