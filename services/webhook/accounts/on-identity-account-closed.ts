import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { deleteEndpointsOf } from '../endpoints/store.ts';

/** Deletes the endpoints of a closed account with their secrets and deliveries. */
export const accountClosed =
  ({ pool }: { pool: Pool }) =>
  ({ account_id }: z.infer<typeof identity.events.accountClosed>): Promise<void> =>
    deleteEndpointsOf(pool, account_id);
