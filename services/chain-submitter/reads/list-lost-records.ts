import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isCompared, listLost } from '../ledger/store/lost-records.ts';

/** Says which records are lost here, and whether the chain was compared with what is here now. */
export const listLostRecords =
  ({ pool }: { pool: Pool }): Handler<typeof chainSubmitter.internal.listLostRecords> =>
  async () => {
    // Read first, so that its losses are among those that are read afterwards.
    const compared = await isCompared(pool);
    return { compared, lost: [...(await listLost(pool))] };
  };
