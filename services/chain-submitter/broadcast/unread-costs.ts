import type { Pool } from '../../../shared/db/pool.ts';
import { isProviderError } from '../chain/json-rpc.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { claimUnreadCosts, type ReadCost, recordCosts } from '../ledger/store/network-costs.ts';

type Deps = { pool: Pool; rpc: RpcPool; network: Network };

/** Transactions of one round. */
const AT_ONCE = 50;

/** The cost of a final transaction; nothing while no provider tells it. */
const read = async ({ rpc, network }: Deps, signature: string): Promise<ReadCost[]> => {
  const changes = await rpc
    .first((provider) => provider.balances(signature, 'finalized'))
    .catch((error: unknown) => {
      if (!isProviderError(error)) throw error;
      return null;
    });
  const cost = changes?.cost ?? null;
  return cost === null ? [] : [{ signature, cost, isOurs: network.feePayers.includes(cost.feePayer) }];
};

/**
 * Reads the cost of transactions that failed on chain, and of those that needed no check of their
 * balances or whose balances no provider returned in time.
 */
export const readCosts = async (deps: Deps): Promise<void> => {
  const signatures = await claimUnreadCosts(deps.pool, AT_ONCE);
  if (signatures.length === 0) return;
  const costs = (await Promise.all(signatures.map((signature) => read(deps, signature)))).flat();
  if (costs.length > 0) await recordCosts(deps.pool, costs);
};
