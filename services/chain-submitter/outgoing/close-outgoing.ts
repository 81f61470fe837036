import type { z } from 'zod';
import type { chainSubmitter, Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { findPaymentIntent } from '../ledger/find-payment-intent.ts';
import { outgoingIntentId } from '../ledger/intent-id.ts';
import { CLOSED } from '../ledger/model/failure.ts';
import { findIntent, insertFailedPayment } from '../ledger/store/intents.ts';
import { toProgress } from '../ledger/view.ts';
import { adoptLost } from './lost-payment.ts';
import { adoptOrRefuse, refuseUndecided } from './lost-record.ts';

type Deps = Parameters<typeof adoptLost>[0] & Parameters<typeof findPaymentIntent>[0];
type Input = z.infer<typeof chainSubmitter.internal.closeOutgoing.input>;

/**
 * Adopts a payment that the chain has, and whose record is lost.
 * @throws ServiceError conflict for one that was signed, or may have been
 */
const adoptOrLeaveUnsigned = async (deps: Deps, intentId: string, input: Input): Promise<void> => {
  const { account_id, settlement_id, message_hash = null, lost = null } = input;
  const answered = message_hash === null ? null : { message_hash, settlement_id };
  if (lost === null) return answered === null ? undefined : adoptOrRefuse(deps, answered, intentId, null);
  const { since, until, owners, ...payment } = lost;
  const request = { account_id, settlement_id, ...payment };
  if (answered !== null) return adoptOrRefuse(deps, answered, intentId, { request, since });
  if ((await adoptLost(deps, { intentId, request }, { since, until, owners })) === 'undecided')
    throw refuseUndecided();
};

/**
 * Ends a payment that was not signed, or returns its progress. A later call of signOutgoing finds
 * the failed intent. A concurrent one inserts the same key, so exactly one of the two succeeds.
 */
export const closeOutgoing =
  (deps: Deps): Handler<typeof chainSubmitter.internal.closeOutgoing> =>
  async (attempt) => {
    const { settlement_id: settlementId } = attempt;
    const intentId = outgoingIntentId(attempt);
    const nothing = { generation: 0, tx_hash: null, slot: null };
    const closed: Progress = { object_id: settlementId, status: 'failed', ...nothing, failure: CLOSED };
    const row = { intentId, settlementId, reason: null, failure: CLOSED };
    if ((await findIntent(deps.pool, intentId)) === null) await adoptOrLeaveUnsigned(deps, intentId, attempt);
    if (await insertFailedPayment(deps.pool, 'outgoing', row)) return closed;
    const intent = await findPaymentIntent(deps, intentId, settlementId);
    const progress = intent === null ? null : toProgress(intent);
    if (progress === null) throw new Error('The intent of an outgoing payment has no progress.');
    return progress;
  };
