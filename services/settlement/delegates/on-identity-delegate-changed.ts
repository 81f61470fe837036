import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { CloseAuthorizations } from './model.ts';
import { pauseDelegate } from './store.ts';

/**
 * Closes what a deleted delegate has authorized. It is paused first, so that a call of it that is
 * still under way authorizes nothing afterwards.
 */
export const delegateChanged =
  ({ pool, closeAuthorizations }: { pool: Pool; closeAuthorizations: CloseAuthorizations }) =>
  async ({
    account_id,
    delegate_id,
    change,
  }: z.infer<typeof identity.events.delegateChanged>): Promise<void> => {
    if (change !== 'deleted') return;
    await pauseDelegate(pool, account_id, delegate_id);
    await closeAuthorizations({ account_id, delegate_id });
  };
