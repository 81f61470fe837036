import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { assemble } from '../../../shared/lib/chain/wire-transaction.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { Pause, RpcPool } from '../chain/rpc-pool.ts';
import { errorKind } from '../ledger/model/failure.ts';
import type { SignedPayment } from './signed-payment.ts';
import { SLOT_MS, throwSimulated } from './simulation-error.ts';

/** A payment that was simulated this recently is signed without another simulation. */
const FRESH_MS = 3000;
const MAX_CACHED = 10_000;

/**
 * Simulations of payments of other clients, with empty signature slots and the payment's own
 * blockhash. The slots of recent successes are cached.
 * @param pause the simulation of the tests passes its virtual time
 */
export const createSimulations = (
  { rpc, logger }: { rpc: Pick<RpcPool, 'simulateAt'>; logger: Logger },
  { pause = sleep, maxCached = MAX_CACHED }: { pause?: Pause; maxCached?: number } = {},
) => {
  const passed = new LRUCache<string, number>({ max: maxCached, ttl: FRESH_MS, ttlResolution: 0 });

  /** @returns the slot whose state was used. The blockhash is known there */
  const simulate = async ({ message, messageHash }: SignedPayment): Promise<number> => {
    const unsigned = assemble(message, [null, null]);
    let result = await readForCaller(rpc.simulateAt(unsigned));
    if (result.error !== null && errorKind(result.error, null) === 'stale') {
      await pause(SLOT_MS);
      result = await readForCaller(rpc.simulateAt(unsigned));
    }
    if (result.error !== null) return throwSimulated(result.error, logger);
    passed.set(messageHash, result.slot);
    return result.slot;
  };

  return {
    simulate,
    /** As `simulate`, unless the payment has passed a simulation in the last seconds. */
    simulateUnlessFresh: async (payment: SignedPayment): Promise<number> =>
      passed.get(payment.messageHash) ?? (await simulate(payment)),
  };
};
export type Simulations = ReturnType<typeof createSimulations>;
