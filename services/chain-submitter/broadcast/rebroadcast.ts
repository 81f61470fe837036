import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { inTraceOf } from '../../../shared/lib/trace.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { signedEvent } from '../intents/events.ts';
import { REBROADCAST_MS } from './broadcast.ts';
import type { InFlightTransactions } from './in-flight.ts';

type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  rpc: Rpc;
  inFlight: InFlightTransactions;
};

/**
 * Publishes of settles that take long which bytes may be included: a caller who has waited long
 * enough gets their hash.
 */
const publishSigned = async ({ inFlight, pool, relay }: Deps): Promise<void> => {
  const before = performance.now() - REBROADCAST_MS;
  const untold = inFlight
    .list()
    .filter(({ phase, isSignedPublished: told, broadcastAt: launchedAt }) => phase === 'sent' && !told && launchedAt <= before);
  if (untold.length === 0) return;
  const events = untold.map(({ intent, generation, signature }) =>
    signedEvent(intent, { generation, signature }, { traceparent: intent.traceparent }),
  );
  relay.dispatch(await insertOutbox(pool, events));
  for (const transaction of untold) transaction.isSignedPublished = true;
};

/** Sends the same bytes again to every provider, every 2 s until they are confirmed or expired (rule 10). */
export const rebroadcast = async (deps: Deps): Promise<void> => {
  const { inFlight, rpc } = deps;
  const now = performance.now();
  const due = inFlight
    .list()
    .filter(({ phase, wire, sendAt }) => phase === 'sent' && wire.length > 0 && sendAt <= now);
  for (const transaction of due) {
    transaction.sendAt = now + REBROADCAST_MS;
    void inTraceOf(transaction.intent.traceparent, () => rpc.broadcast(transaction.wire));
  }
  await publishSigned(deps);
};
