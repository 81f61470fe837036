import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { deleteEndpointsOf } from '../endpoints/store.ts';
import { deleteEventsOf } from '../events/store.ts';

/** Deletes the events of an erased account, and an endpoint that was created while it closed. */
export const accountErased =
  ({ pool }: { pool: Pool }) =>
  async ({ account_id }: z.infer<typeof identity.events.accountErased>): Promise<void> => {
    await deleteEndpointsOf(pool, account_id);
    await deleteEventsOf(pool, account_id);
  };
