import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { incomingIntentId } from '../ledger/intent-id.ts';
import { findIntent } from '../ledger/store/intents.ts';
import { incomingFeeLamports } from '../limits/lamports.ts';
import { findLostMessage, type LostDeps } from '../payments/lost-message.ts';
import { answerRefusal, PaymentRefusal } from '../payments/refusal.ts';
import type { SignedPayment, SignedPayments } from './signed-payment.ts';
import type { Simulations } from './simulations.ts';

type Deps = LostDeps & { signedPayments: SignedPayments; simulations: Simulations };

/**
 * Simulates a payment, unless it was signed: the simulation may then be refused because the payment
 * itself has used the balance. So may that of one whose record is lost.
 */
const simulateUnsigned = async (deps: Deps, payment: SignedPayment, since: string | null): Promise<void> => {
  const { pool, simulations } = deps;
  try {
    await simulations.simulate(payment);
  } catch (error) {
    const intent = await findIntent(pool, incomingIntentId(payment.messageHash));
    if (intent !== null && intent.signature !== null) return;
    if (intent !== null || since === null || !(error instanceof PaymentRefusal)) throw error;
    const { messageHash, source } = payment;
    if ((await findLostMessage(deps, { messageHash, source, since })) === null) throw error;
  }
};

/**
 * Checks a transaction of another client. Writes nothing, and never returns our signature, because
 * it would be the fee payer's consent.
 */
export const checkIncoming =
  (deps: Deps): Handler<typeof chainSubmitter.internal.checkIncoming> =>
  ({ simulate, lost_since = null, ...input }) =>
    answerRefusal(async () => {
      const payment = await deps.signedPayments.read(input);
      if (simulate) await simulateUnsigned(deps, payment, lost_since);
      return {
        outcome: 'accepted' as const,
        message_hash: payment.messageHash,
        payer: payment.authority,
        source_account: payment.source,
        fee_payer: payment.feePayer,
        lamports: Number(incomingFeeLamports(payment.priorityFeeLamports)),
      };
    });
