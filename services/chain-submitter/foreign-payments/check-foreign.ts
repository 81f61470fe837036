import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Network } from '../chain/model/network.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import { foreignIntentId } from '../intents/intent-id.ts';
import { findIntent } from '../intents/store/intents.ts';
import { foreignFeeLamports } from '../limits/lamports.ts';
import { answerRefusal } from './refusal.ts';
import { readSignedPayment, type SignedPayment } from './signed-payment.ts';
import type { Simulations } from './simulations.ts';

type Deps = { pool: Pool; network: Network; tokenAccounts: TokenAccounts; simulations: Simulations };

/**
 * Simulates a payment, unless it was signed: the simulation may then be refused because the payment
 * itself has used the balance.
 */
const simulateUnsigned = async ({ pool, simulations }: Deps, payment: SignedPayment): Promise<void> => {
  try {
    await simulations.simulate(payment);
  } catch (error) {
    const intent = await findIntent(pool, foreignIntentId(payment.messageHash));
    if (intent === null || intent.signature === null) throw error;
  }
};

/**
 * Checks a transaction of another client. Writes nothing, and never returns our signature, because
 * it would be the fee payer's consent.
 */
export const checkForeign =
  (deps: Deps): Handler<typeof chainSubmitter.internal.checkForeign> =>
  ({ simulate, ...input }) =>
    answerRefusal(async () => {
      const payment = await readSignedPayment(deps, input);
      if (simulate) await simulateUnsigned(deps, payment);
      return {
        outcome: 'accepted' as const,
        message_hash: payment.messageHash,
        payer: payment.authority,
        source_account: payment.source,
        fee_payer: payment.feePayer,
        lamports: Number(foreignFeeLamports(payment.priorityFeeLamports)),
      };
    });
