import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { showMoved } from '../events.ts';
import { listMovedRows } from '../store/moved.ts';

/** int.funding.listMoved. */
export const listMoved =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof funding.internal.listMoved> =>
  async (page) =>
    (await listMovedRows(pool, page)).map(showMoved);
