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
import { changeOf, transition } from '../intents/transition.ts';
import { creationIndexOf, disassemble } from '../transactions/message.ts';
import { dispute, doubt } from './agreement.ts';
import type { Flight, Flights } from './in-flight.ts';
import { agreedError, opinionOf, type View } from './model/agreement.ts';

type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  logger: Logger;
  chain: ChainView;
  flights: Flights;
};

/** What a failure on chain means for whoever asked. */
const failureOf = async (
  deps: Deps,
  { order, intent, wire }: Flight,
  error: ChainError,
): Promise<Failure> => {
  const creation = wire.length === 0 ? null : creationIndexOf(disassemble(wire).message);
  if (errorKind(error, creation) !== 'proven') return NOT_THE_PAYERS;
  if (order?.kind !== 'settle') return otherFailure(intent.kind, error);
  return settleFailure(error, (await deps.chain.tokenAccount(order.payer)).account, order);
};

/**
 * Fails an intent whose transaction has failed on chain and is final, as every provider says: proven (rules 14 and 15).
 * @param nextPollAt when it is looked at again while they do not agree
 */
export const fail = async (
  deps: Deps,
  flight: Flight,
  views: readonly View[],
  nextPollAt: number,
): Promise<void> => {
  const error = agreedError(views);
  if (error === null) {
    flight.pollAt = nextPollAt;
    return opinionOf(views) === 'contradiction' ? dispute(deps, flight, views) : doubt(deps, flight, views);
  }
  const failure = await failureOf(deps, flight, error);
  if (flight.phase === 'confirmed') await transition(deps, 'fork', [changeOf(flight)]);
  await transition(deps, 'fail', [{ ...changeOf(flight), failure }]);
  deps.flights.end(flight.intent.intent_id);
};
