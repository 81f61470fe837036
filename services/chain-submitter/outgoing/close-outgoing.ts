import type { z } from 'zod';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { IntentFinder } from '../ledger/find-payment-intent.ts';
import { outgoingIntentId } from '../ledger/intent-id.ts';
import { closePayment } from '../payments/close.ts';
import { adoptLost, type LostDeps } from './lost-payment.ts';
import { adoptOrRefuse, refuseUndecided } from './lost-record.ts';

type Deps = LostDeps & IntentFinder;
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

/** Ends an outgoing payment that was not signed, or returns its progress. */
export const closeOutgoing =
  (deps: Deps): Handler<typeof chainSubmitter.internal.closeOutgoing> =>
  (attempt) => {
    const intentId = outgoingIntentId(attempt);
    const payment = { kind: 'outgoing', intentId, settlementId: attempt.settlement_id } as const;
    return closePayment(deps, payment, () => adoptOrLeaveUnsigned(deps, intentId, attempt));
  };
