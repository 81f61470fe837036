import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { inTraceOf } from '../../../shared/lib/trace.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { signaturesUnder } from '../intents/adoption.ts';
import type { Driver } from '../intents/executor.ts';
import { expireTransaction } from '../transactions/store/transactions.ts';
import type { Flight, Flights } from './in-flight.ts';

type Deps = {
  pool: Pool;
  logger: Logger;
  rpc: Rpc;
  flights: Flights;
  driver: Driver;
};

/** Younger bytes cannot have expired on any chain. */
const LEAST_AGE_MS = 1000;

/**
 * The proof that bytes can never land (rule 11), on every provider and in this order: the finalized block height
 * is past the last valid one, then no status with history, then nothing of them under the reference. A
 * provider that does not answer proves nothing.
 */
const isProvenDead = async ({ rpc }: Deps, { signature, order }: Flight): Promise<boolean> => {
  const statuses = await Promise.all(
    rpc.providers.map((provider) => provider.statuses([signature], { history: true })),
  );
  if (statuses.some((answer) => answer.statuses[0] !== null)) return false;
  if (order === null || !('reference' in order)) return true;
  const under = await signaturesUnder(rpc, order, { everywhere: true });
  // Another transaction under the reference is no reason to wait for these bytes: the next look adopts it.
  return !under.includes(signature);
};

const expire = async (deps: Deps, flight: Flight): Promise<void> => {
  const { intent, signature, generation } = flight;
  if (!deps.flights.isCurrent(flight)) return;
  if (!(await isProvenDead(deps, flight))) {
    count('settle.chain.expiry_proofs', 1, { outcome: 'refuted' });
    // Known after all, perhaps from longer ago than a node's short memory: look again, in the history too.
    flight.missed += 1;
    flight.pollAt = 0;
    return;
  }
  if (!deps.flights.isCurrent(flight) || flight.phase !== 'sent') return;
  deps.logger.warn({ intent: intent.intent_id, tx: signature, generation }, 'expired without landing');
  if (await expireTransaction(deps.pool, signature))
    count('settle.chain.expiry_proofs', 1, { outcome: 'proven' });
  await deps.driver.rest(intent.intent_id, 0);
  await deps.driver.driveNow(intent.intent_id);
};

/** Looks for bytes that have expired; a new generation is signed only after the proof. */
export const expireFlights = async (deps: Deps): Promise<void> => {
  const now = performance.now();
  const sent = deps.flights
    .inAir()
    .filter(({ phase, launchedAt }) => phase === 'sent' && now - launchedAt >= LEAST_AGE_MS);
  if (sent.length === 0) return;
  const heights = await Promise.all(
    deps.rpc.providers.map((provider) => provider.blockHeight('finalized')),
  ).catch((error: unknown) => {
    count('settle.chain.expiry_proofs', 1, { outcome: 'unanswered' });
    throw error;
  });
  const height = Math.min(...heights);
  const past = sent.filter(({ lastValidBlockHeight }) => lastValidBlockHeight < height);
  const results = await Promise.allSettled(
    past.map((flight) => inTraceOf(flight.intent.traceparent, () => expire(deps, flight))),
  );
  for (const result of results) {
    if (result.status === 'fulfilled') continue;
    count('settle.chain.expiry_proofs', 1, { outcome: 'unanswered' });
    deps.logger.warn({ err: result.reason }, 'expiry not proven yet');
  }
};
