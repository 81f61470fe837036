import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { Network } from '../chain/model/network.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { expectedDeltas } from '../intents/adoption.ts';
import { toChange, transition } from '../intents/transition.ts';
import type { InFlightTransaction, InFlightTransactions } from './in-flight.ts';

type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  logger: Logger;
  network: Network;
  rpc: Rpc;
  inFlight: InFlightTransactions;
};

/** How often the balances of a final transaction are asked for before it counts as final without them. */
const MAX_UNANSWERED = 30;
const RETRY_MS = 1000;

/** Compares what the transaction did with what the order says. False: no provider could tell yet. */
const checkBalances = async ({ rpc, network, logger }: Deps, transaction: InFlightTransaction): Promise<boolean> => {
  const { order, signature, intent } = transaction;
  const expected = order === null ? [] : expectedDeltas(order, network);
  if (expected.length === 0) return true;
  const changes = await rpc.first((provider) => provider.balances(signature, 'finalized')).catch(() => null);
  if (changes === null) {
    transaction.unansweredReads += 1;
    if (transaction.unansweredReads < MAX_UNANSWERED) return false;
    logger.error({ intent: intent.intent_id, tx: signature }, 'final without a look at its balances');
    return true;
  }
  const wrong = expected.filter(([account, delta]) => changes.deltaOf(account) !== delta);
  if (wrong.length > 0) {
    // An alarm and not a failure: what is final has happened, and the record has to say so.
    const accounts = wrong.map(([account]) => account);
    count('quittance_anomalies_total', 1, { kind: 'balance_mismatch' });
    logger.error({ intent: intent.intent_id, tx: signature, accounts }, 'balances');
  }
  return true;
};

/** Ends confirmed intents whose transaction is final, after its balance changes were checked (rule 14). */
export const finalize = async (deps: Deps, inFlight: readonly InFlightTransaction[]): Promise<void> => {
  const checked = await Promise.all(
    inFlight.map(async (transaction) => ({ transaction, told: await checkBalances(deps, transaction) })),
  );
  for (const { transaction, told } of checked) if (!told) transaction.pollAt = performance.now() + RETRY_MS;
  const done = checked.filter(({ told }) => told).map(({ transaction }) => transaction);
  if (done.length === 0) return;
  await transition(deps, 'finalize', done.map(toChange));
  for (const { intent } of done) deps.inFlight.end(intent.intent_id);
};
