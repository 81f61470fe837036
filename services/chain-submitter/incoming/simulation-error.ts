import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { type ChainError, tokenErrorCode } from '../ledger/model/chain-error.ts';
import { errorKind } from '../ledger/model/failure.ts';
import { refuse } from './refusal.ts';

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
