import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { assemble } from '../../../shared/lib/chain/wire-transaction.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { Pause, RpcPool } from '../chain/rpc-pool.ts';
import { errorKind } from '../ledger/model/failure.ts';
import type { Network } from '../ledger/model/network.ts';
import type { AllowedPrograms, IncomingTerms, IncomingTransfer } from './policy.ts';
import { SLOT_MS, throwSimulated } from './simulation-error.ts';
import { checkWalletChanges, type WalletPayment } from './wallet-policy.ts';

type Deps = {
  rpc: Pick<RpcPool, 'simulateEverywhere'>;
  network: Network;
  logger: Logger;
  programs: AllowedPrograms;
};

/**
 * Judges payments of smart wallets by what they would change. Each provider simulates, and each
 * answer must be the order's, because one that lies would otherwise have a transaction signed that
 * pays nothing.
 */
export const createOutcomes = (deps: Deps, { pause = sleep }: { pause?: Pause } = {}) => {
  const { rpc, logger } = deps;
  return {
    /** @throws PaymentRefusal; ServiceError when a provider does not answer */
    judge: async (payment: WalletPayment, order: IncomingTerms): Promise<IncomingTransfer> => {
      const unsigned = assemble(payment.message, [null, null]);
      const simulate = () => readForCaller(rpc.simulateEverywhere(unsigned, payment.unknown));
      let outcomes = await simulate();
      if (outcomes.some(({ error }) => error !== null && errorKind(error, null) === 'stale')) {
        await pause(SLOT_MS);
        outcomes = await simulate();
      }
      const judged = outcomes.map(({ error, changes }) =>
        changes === null ? throwSimulated(error!, logger) : checkWalletChanges(payment, changes, order, deps),
      );
      const [first, ...others] = judged as [IncomingTransfer, ...IncomingTransfer[]];
      if (others.some(({ source, authority }) => source !== first.source || authority !== first.authority)) {
        count('quittance_anomalies_total', 1, { kind: 'providers_disagree' });
        logger.error({ judged }, 'providers disagree about a simulation, nothing is signed');
        throw new ServiceError('service_unavailable', 'the payment cannot be simulated; repeat the call', {
          money_moved: 'no',
          retryAfterSeconds: 5,
        });
      }
      return first;
    },
  };
};
export type Outcomes = ReturnType<typeof createOutcomes>;
