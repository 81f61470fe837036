import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { Network } from '../chain/model/network.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { expectedDeltas } from '../intents/adoption.ts';
import { changeOf, transition } from '../intents/transition.ts';
import type { Flight, Flights } from './in-flight.ts';

type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  logger: Logger;
  network: Network;
  rpc: Rpc;
  flights: Flights;
};

/** How often the balances of a final transaction are asked for before it counts as final without them. */
const MAX_UNANSWERED = 30;
const RETRY_MS = 1000;

/** Compares what the transaction did with what the order says. False: no provider could tell yet. */
const checkBalances = async ({ rpc, network, logger }: Deps, flight: Flight): Promise<boolean> => {
  const { order, signature, intent } = flight;
  const expected = order === null ? [] : expectedDeltas(order, network);
  if (expected.length === 0) return true;
  const landed = await rpc.first((provider) => provider.balances(signature, 'finalized')).catch(() => null);
  if (landed === null) {
    flight.unanswered += 1;
    if (flight.unanswered < MAX_UNANSWERED) return false;
    logger.error({ intent: intent.intent_id, tx: signature }, 'final without a look at its balances');
    return true;
  }
  const wrong = expected.filter(([account, delta]) => landed.deltaOf(account) !== delta);
  if (wrong.length > 0) {
    // An alarm and not a failure: what is final has happened, and the record has to say so.
    const accounts = wrong.map(([account]) => account);
    count('settle.anomalies', 1, { kind: 'balance_mismatch' });
    logger.error({ intent: intent.intent_id, tx: signature, accounts }, 'balances');
  }
  return true;
};

/** Ends confirmed intents whose transaction is final, after its balance changes were checked (rule 14). */
export const finalize = async (deps: Deps, flights: readonly Flight[]): Promise<void> => {
  const checked = await Promise.all(
    flights.map(async (flight) => ({ flight, told: await checkBalances(deps, flight) })),
  );
  for (const { flight, told } of checked) if (!told) flight.pollAt = performance.now() + RETRY_MS;
  const done = checked.filter(({ told }) => told).map(({ flight }) => flight);
  if (done.length === 0) return;
  await transition(deps, 'finalize', done.map(changeOf));
  for (const { intent } of done) deps.flights.end(intent.intent_id);
};
