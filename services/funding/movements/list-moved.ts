import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listMovements } from './store.ts';
import { showMovement } from './view.ts';

/** int.funding.listMoved. */
export const listMoved =
  ({ pool }: { pool: Pool }): Handler<typeof funding.internal.listMoved> =>
  async (page) =>
    (await listMovements(pool, page)).map(showMovement);
