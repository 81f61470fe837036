import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { InFlightTransactions } from '../broadcast/in-flight.ts';
import type { Executor } from '../execution/executor.ts';
import { findPaymentIntent, type IntentFinder } from '../ledger/find-payment-intent.ts';
import type { Hints } from '../ledger/hints.ts';
import { outgoingIntentId } from '../ledger/intent-id.ts';
import { intents } from '../ledger/model/state.ts';
import { findIntent } from '../ledger/store/intents.ts';
import { toProgress } from '../ledger/view.ts';

type Deps = {
  pool: Pool;
  inFlight: InFlightTransactions;
  executor: Pick<Executor, 'executeAndWait'>;
  hints: Hints;
} & IntentFinder;

/**
 * Searches for an outgoing payment now. The transaction that the vendor names is read too, from
 * providers that do not list it under the source yet.
 */
export const observeOutgoing =
  (deps: Deps): Handler<typeof chainSubmitter.internal.observeOutgoing> =>
  async ({ tx_hash, ...attempt }) => {
    const intentId = outgoingIntentId(attempt);
    const existing = await findPaymentIntent(deps, intentId, attempt.settlement_id);
    if (existing === null)
      throw new ServiceError('not_found', 'no outgoing payment of this attempt; sign it first');
    if (!intents.isTerminal(existing.status)) {
      if (tx_hash !== null) deps.hints.set(intentId, tx_hash);
      if (deps.inFlight.has(intentId)) deps.inFlight.pollNow(intentId);
      else await deps.executor.executeAndWait(intentId);
    }
    const progress = toProgress((await findIntent(deps.pool, intentId)) ?? existing);
    if (progress === null) throw new Error('The intent of an outgoing payment has no progress.');
    return progress;
  };
