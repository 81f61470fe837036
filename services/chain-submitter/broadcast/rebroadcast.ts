import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { inTraceOf } from '../../../shared/lib/trace.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { signedEvent } from '../intents/events.ts';
import { RESEND_MS } from './broadcast.ts';
import type { Flights } from './in-flight.ts';

type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  rpc: Rpc;
  flights: Flights;
};

/**
 * Publishes of settles that take long which bytes may be included: a caller who has waited long
 * enough gets their hash.
 */
const publishSigned = async ({ flights, pool, relay }: Deps): Promise<void> => {
  const before = performance.now() - RESEND_MS;
  const untold = flights
    .inAir()
    .filter(({ phase, told, launchedAt }) => phase === 'sent' && !told && launchedAt <= before);
  if (untold.length === 0) return;
  const events = untold.map(({ intent, generation, signature }) =>
    signedEvent(intent, { generation, signature }, { traceparent: intent.traceparent }),
  );
  relay.dispatch(await insertOutbox(pool, events));
  for (const flight of untold) flight.told = true;
};

/** Sends the same bytes again to every provider, every 2 s until they are confirmed or expired (rule 10). */
export const rebroadcast = async (deps: Deps): Promise<void> => {
  const { flights, rpc } = deps;
  const now = performance.now();
  const due = flights
    .inAir()
    .filter(({ phase, wire, sendAt }) => phase === 'sent' && wire.length > 0 && sendAt <= now);
  for (const flight of due) {
    flight.sendAt = now + RESEND_MS;
    void inTraceOf(flight.intent.traceparent, () => rpc.broadcast(flight.wire));
  }
  await publishSigned(deps);
};
