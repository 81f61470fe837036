import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import type { ChainView } from '../chain/token-accounts.ts';
import {
  type ChainError,
  errorKind,
  type Failure,
  NOT_THE_PAYERS,
  otherFailure,
  settleFailure,
} from '../intents/model/failure.ts';
import { toChange, transition } from '../intents/transition.ts';
import { findCreationIndex, disassemble } from '../transactions/message.ts';
import { reportDispute, recordDoubt } from './agreement.ts';
import type { InFlightTransaction, InFlightTransactions } from './in-flight.ts';
import { findAgreedError, compareViews, type View } from './model/agreement.ts';

type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  logger: Logger;
  chain: ChainView;
  inFlight: InFlightTransactions;
};

/** What a failure on chain means for whoever asked. */
const failureOf = async (
  deps: Deps,
  { order, intent, wire }: InFlightTransaction,
  error: ChainError,
): Promise<Failure> => {
  const creation = wire.length === 0 ? null : findCreationIndex(disassemble(wire).message);
  if (errorKind(error, creation) !== 'proven') return NOT_THE_PAYERS;
  if (order?.kind !== 'settle') return otherFailure(intent.kind, error);
  return settleFailure(error, (await deps.chain.tokenAccount(order.payer)).account, order);
};

/**
 * Fails an intent whose transaction has failed on chain and is final, as every provider says: proven (rules 14 and 15).
 * @param nextPollAt when it is looked at again while they do not agree
 */
export const failIfAgreed = async (
  deps: Deps,
  transaction: InFlightTransaction,
  views: readonly View[],
  nextPollAt: number,
): Promise<void> => {
  const error = findAgreedError(views);
  if (error === null) {
    transaction.pollAt = nextPollAt;
    return compareViews(views) === 'contradiction' ? reportDispute(deps, transaction, views) : recordDoubt(deps, transaction, views);
  }
  const failure = await failureOf(deps, transaction, error);
  if (transaction.phase === 'confirmed') await transition(deps, 'fork', [toChange(transaction)]);
  await transition(deps, 'fail', [{ ...toChange(transaction), failure }]);
  deps.inFlight.end(transaction.intent.intent_id);
};
