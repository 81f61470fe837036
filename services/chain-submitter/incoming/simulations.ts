import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { assemble } from '../../../shared/lib/wire-transaction.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { Pause, RpcPool } from '../chain/rpc-pool.ts';
import { type ChainError, tokenErrorCode } from '../ledger/model/chain-error.ts';
import { errorKind } from '../ledger/model/failure.ts';
import { refuse } from './refusal.ts';
import type { SignedPayment } from './signed-payment.ts';

/** A payment that was simulated this recently is signed without another simulation. */
const FRESH_MS = 3000;
const MAX_CACHED = 10_000;
/** The time of a slot. Another provider may have a blockhash that ours gets with the next slot. */
export const SLOT_MS = 400;

/** The chain's name of an instruction's error; null for another error. */
const instructionErrorOf = (error: ChainError): unknown =>
  typeof error === 'object' && 'InstructionError' in error
    ? (error.InstructionError as [number, unknown])[1]
    : null;

/** @throws PaymentRefusal; ServiceError for an error that is not the buyer's */
export const throwSimulated = (error: ChainError, logger: Logger): never => {
  const kind = errorKind(error, null);
  if (kind === 'stale')
    return refuse('blockhash_expired', 'the blockhash has expired; sign a new transaction');
  if (kind === 'ours') {
    logger.error({ simulation: error }, 'simulation failed because of the fee payer or a provider');
    throw new ServiceError(
      'service_unavailable',
      'the payment cannot be simulated right now; repeat the call',
      {
        money_moved: 'no',
        retryAfterSeconds: 5,
      },
    );
  }
  if (tokenErrorCode(error) === 1)
    return refuse('insufficient_funds', 'the balance of the paying token account is too small');
  if (instructionErrorOf(error) === 'InvalidAccountData')
    return refuse('insufficient_funds', 'the paying token account does not exist or is not of this mint');
  return refuse('simulation_failed', `the chain refuses the payment: ${JSON.stringify(error)}`);
};

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
