import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { toProgress } from '../intents/events.ts';
import { findIntent } from '../intents/store/intents.ts';
import { intentIdOf } from './store/preparations.ts';

/** How far a submitted transfer has come: facts can be lost with their queue, the record cannot. */
export const observePrepared =
  ({ pool }: { pool: Pool }): Handler<typeof chainSubmitter.internal.observePrepared> =>
  async ({ transfer, object_id }) => {
    const intent = await findIntent(pool, intentIdOf({ kind: transfer, preparation_id: object_id }));
    return intent === null ? null : toProgress(intent);
  };
