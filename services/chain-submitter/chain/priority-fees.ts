import { LRUCache } from 'lru-cache';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import type { Network } from '../ledger/model/network.ts';
import type { SettleOrder } from '../ledger/model/order.ts';
import { priorityPrice, type RecentFee } from '../ledger/model/priority-fee.ts';
import { isProviderError } from './json-rpc.ts';
import type { RpcPool } from './rpc-pool.ts';

/** Fees change from slot to slot, but a burst of payments reads them once. */
const MAX_AGE_MS = 2000;
const MAX_PAYEES = 1000;

/** Prices of the compute units of settles. */
export type PriorityFees = {
  /**
   * Micro-lamports per unit; null without compute budget instructions. Never above the configured
   * price. While no provider reports the recent fees, it is the configured one, because a payment
   * must not wait for them.
   */
  priceOf: (order: Pick<SettleOrder, 'payoutAccount'>, generation: number) => Promise<bigint | null>;
};

export const createPriorityFees = ({
  rpc,
  network: { computeBudget, feeAccount },
  logger,
}: {
  rpc: Pick<RpcPool, 'recentFees'>;
  network: Pick<Network, 'computeBudget' | 'feeAccount'>;
  logger: Logger;
}): PriorityFees => {
  const byPayee = new LRUCache<string, Promise<RecentFee[] | null>>({
    max: MAX_PAYEES,
    ttl: MAX_AGE_MS,
    ttlResolution: 0,
  });

  /** The fees of the accounts that payments of many payers write. Null if no provider answers. */
  const recentOf = (payee: string): Promise<RecentFee[] | null> => {
    const found = byPayee.get(payee);
    if (found !== undefined) return found;
    const reading = rpc.recentFees([...new Set([feeAccount, payee])]).catch((error: unknown) => {
      if (!isProviderError(error)) throw error;
      logger.warn({ err: error }, 'recent fees cannot be read, offering the highest configured price');
      return null;
    });
    byPayee.set(payee, reading);
    return reading;
  };

  return {
    priceOf: async ({ payoutAccount }, generation) => {
      if (computeBudget === null) return null;
      const { microLamports: most, follows } = computeBudget;
      if (!follows) return most;
      const recent = await recentOf(payoutAccount);
      return recent === null ? most : priorityPrice(recent, generation, most);
    },
  };
};
