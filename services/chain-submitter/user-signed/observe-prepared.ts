import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { preparedIntentId } from '../ledger/intent-id.ts';
import { findIntent } from '../ledger/store/intents.ts';
import { toProgress } from '../ledger/view.ts';

/**
 * The progress of a submitted transfer. Its record survives when its events are lost with their
 * queue.
 */
export const observePrepared =
  ({ pool }: { pool: Pool }): Handler<typeof chainSubmitter.internal.observePrepared> =>
  async ({ transfer, object_id }) => {
    const intent = await findIntent(pool, preparedIntentId({ kind: transfer, preparation_id: object_id }));
    return intent === null ? null : toProgress(intent);
  };
