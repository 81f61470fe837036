import type { chainSubmitter, Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { findPaymentIntent } from '../ledger/find-payment-intent.ts';
import { incomingIntentId } from '../ledger/intent-id.ts';
import { CLOSED } from '../ledger/model/failure.ts';
import { findIntent, insertFailedPayment } from '../ledger/store/intents.ts';
import { toProgress } from '../ledger/view.ts';
import { adoptLost, type LostDeps } from './lost-payment.ts';

type Deps = LostDeps & Parameters<typeof findPaymentIntent>[0];

/**
 * Ends a payment that was not signed, or returns its progress. The failed intent that it inserts is
 * found by a later submission of the same message. A concurrent submission inserts the same key, so
 * exactly one of the two succeeds.
 */
export const closeIncoming =
  (deps: Deps): Handler<typeof chainSubmitter.internal.closeIncoming> =>
  async ({ message_hash, settlement_id, lost }) => {
    const nothing = { generation: 0, tx_hash: null, slot: null };
    const closed: Progress = { object_id: settlement_id, status: 'failed', ...nothing, failure: CLOSED };
    const intentId = incomingIntentId(message_hash);
    const row = { intentId, settlementId: settlement_id, reason: null, failure: CLOSED };
    if (lost && (await findIntent(deps.pool, intentId)) === null) {
      const { since, source_account: source, account_id: accountId } = lost;
      const payment = { settlementId: settlement_id, accountId };
      await adoptLost(deps, payment, { messageHash: message_hash, source, since });
    }
    if (await insertFailedPayment(deps.pool, 'incoming', row)) return closed;
    const intent = await findPaymentIntent(deps, intentId, settlement_id);
    const progress = intent === null ? null : toProgress(intent);
    if (progress === null) throw new Error('The intent of a payment of another client has no progress.');
    return progress;
  };
