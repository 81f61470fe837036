import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { findPaymentIntent, type IntentFinder } from '../ledger/find-payment-intent.ts';
import { CLOSED } from '../ledger/model/failure.ts';
import { findIntent, insertFailedPayment } from '../ledger/store/intents.ts';
import { toProgress } from '../ledger/view.ts';
import type { Payment } from './sign-once.ts';

/**
 * Ends a payment that was not signed, or returns its progress. The failed intent that it inserts is
 * found by a later call that would sign the payment. A concurrent one inserts the same key, so
 * exactly one of the two succeeds.
 * @param adoptLost adopts a payment without an intent if the chain has it, and throws when it may
 *   have it
 */
export const closePayment = async (
  deps: IntentFinder,
  { kind, intentId, settlementId }: Pick<Payment<never>, 'kind' | 'intentId' | 'settlementId'>,
  adoptLost: () => Promise<unknown>,
): Promise<Progress> => {
  if ((await findIntent(deps.pool, intentId)) === null) await adoptLost();
  const row = { intentId, settlementId, reason: null, failure: CLOSED };
  if (await insertFailedPayment(deps.pool, kind, row)) {
    const nothing = { generation: 0, tx_hash: null, slot: null };
    return { object_id: settlementId, status: 'failed', ...nothing, failure: CLOSED };
  }
  const intent = await findPaymentIntent(deps, intentId, settlementId);
  const progress = intent === null ? null : toProgress(intent);
  if (progress === null) throw new Error('The intent of a payment has no progress.');
  return progress;
};
