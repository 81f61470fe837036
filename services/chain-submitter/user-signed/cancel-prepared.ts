import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { preparedIntentId } from '../ledger/intent-id.ts';
import { findIntent } from '../ledger/store/intents.ts';
import { cancelPreparation } from '../ledger/store/preparations.ts';
import { toProgress } from '../ledger/view.ts';

/**
 * Cancels a prepared transfer. A cancellation and a concurrent submission change the same row, each
 * only while the other has not, so exactly one of them succeeds.
 */
export const cancelPrepared =
  ({ pool }: { pool: Pool }): Handler<typeof chainSubmitter.internal.cancelPrepared> =>
  async ({ transfer, object_id }) => {
    if (await cancelPreparation(pool, object_id)) return null;
    const intent = await findIntent(pool, preparedIntentId({ kind: transfer, preparation_id: object_id }));
    // Without an intent nothing was prepared under this id, so there is no transaction to submit.
    return intent === null ? null : toProgress(intent);
  };
