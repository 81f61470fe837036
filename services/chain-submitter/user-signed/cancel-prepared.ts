import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { toProgress } from '../intents/events.ts';
import { findIntent } from '../intents/store/intents.ts';
import { cancelPreparation, intentIdOf } from './store/preparations.ts';

/**
 * Ends a prepared transfer. Here, beside the co-signing, is the one place where a cancel and a submission that race
 * can have one winner: both change the same row, each only while the other has not.
 */
export const cancelPrepared =
  ({ pool }: { pool: Pool }): Handler<typeof chainSubmitter.internal.cancelPrepared> =>
  async ({ transfer, object_id }) => {
    if (await cancelPreparation(pool, object_id)) return null;
    const intent = await findIntent(pool, intentIdOf({ kind: transfer, preparation_id: object_id }));
    // Nothing was ever prepared under this id: nobody holds anything that could be submitted.
    return intent === null ? null : toProgress(intent);
  };
