import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { listReplicas as listRunning } from '../../../shared/lanes/store.ts';

/** chain-submitter.listReplicas: the running replicas, their load and their lanes. */
export const listReplicas =
  ({ pool }: { pool: Pool }): Handler<typeof chainSubmitter.internal.listReplicas> =>
  async () => [...(await listRunning(pool))];
