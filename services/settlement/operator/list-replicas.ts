import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listReplicas as listRunning } from '../../../shared/lanes/store.ts';

/** settlement.listReplicas: the running replicas, their load and their lanes. */
export const listReplicas =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.listReplicas> =>
  async () => [...(await listRunning(pool))];
