import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Network } from '../chain/model/network.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import { foreignFeeLamports } from '../limits/lamports.ts';
import { answerRefusal } from './refusal.ts';
import { readSignedPayment } from './signed-payment.ts';
import type { Simulations } from './simulations.ts';

type Deps = { network: Network; tokenAccounts: TokenAccounts; simulations: Simulations };

/**
 * Checks a transaction of another client. Writes nothing, and never returns our signature, because
 * it would be the fee payer's consent.
 */
export const checkForeign =
  (deps: Deps): Handler<typeof chainSubmitter.internal.checkForeign> =>
  ({ simulate, ...input }) =>
    answerRefusal(async () => {
      const payment = await readSignedPayment(deps, input);
      if (simulate) await deps.simulations.simulate(payment);
      return {
        outcome: 'accepted' as const,
        message_hash: payment.messageHash,
        payer: payment.authority,
        source_account: payment.source,
        fee_payer: payment.feePayer,
        lamports: Number(foreignFeeLamports(payment.priorityFeeLamports)),
      };
    });
