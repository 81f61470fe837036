import type { chainSubmitter, Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findPaymentIntent } from '../intents/find-payment-intent.ts';
import { externalIntentId } from '../intents/intent-id.ts';
import { CLOSED } from '../intents/model/failure.ts';
import { findIntent, insertFailedPayment } from '../intents/store/intents.ts';
import { toProgress } from '../intents/view.ts';
import { refuseIfLost } from './lost-record.ts';

type Deps = { pool: Pool } & Parameters<typeof findPaymentIntent>[0];

/**
 * Ends a payment that was not signed, or returns its progress. A later call of signExternal finds
 * the failed intent. A concurrent one inserts the same key, so exactly one of the two succeeds.
 */
export const closeExternal =
  (deps: Deps): Handler<typeof chainSubmitter.internal.closeExternal> =>
  async (attempt) => {
    const { settlement_id: settlementId } = attempt;
    const intentId = externalIntentId(attempt);
    const nothing = { generation: 0, tx_hash: null, slot: null };
    const closed: Progress = { object_id: settlementId, status: 'failed', ...nothing, failure: CLOSED };
    const row = { intentId, settlementId, reason: null, failure: CLOSED };
    if ((await findIntent(deps.pool, intentId)) === null) refuseIfLost(deps.logger, intentId, attempt);
    if (await insertFailedPayment(deps.pool, 'external', row)) return closed;
    const intent = await findPaymentIntent(deps, intentId, settlementId);
    const progress = intent === null ? null : toProgress(intent);
    if (progress === null) throw new Error('The intent of an outgoing payment has no progress.');
    return progress;
  };
