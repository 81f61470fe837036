import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { inTraceOf } from '../../../shared/lib/telemetry/trace.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { signedEvent } from '../ledger/events.ts';
import { type InFlightTransactions, isSendable, REBROADCAST_MS } from './in-flight.ts';

type Deps = {
  pool: Pool;
  relay: Outbox;
  rpc: RpcPool;
  inFlight: InFlightTransactions;
};

/**
 * Publishes which bytes of a settle may be included, once the settle takes long. A caller that has
 * waited long enough is then answered with their signature.
 */
const publishSigned = async ({ inFlight, pool, relay }: Deps): Promise<void> => {
  const before = performance.now() - REBROADCAST_MS;
  const unpublished = inFlight
    .list()
    .filter(
      ({ phase, isSignedPublished, broadcastAt }) =>
        phase === 'sent' && !isSignedPublished && broadcastAt <= before,
    );
  if (unpublished.length === 0) return;
  const events = unpublished.map((transaction) => {
    const { intent } = transaction;
    return signedEvent(intent, transaction, { traceparent: intent.traceparent });
  });
  relay.dispatch(await insertOutbox(pool, events));
  for (const transaction of unpublished) transaction.isSignedPublished = true;
};

/**
 * Sends the same bytes to every provider again every 2 s, until they are confirmed or expired (rule
 * 10).
 * @returns whether bytes are in flight
 */
export const rebroadcast = async (deps: Deps): Promise<boolean> => {
  const { inFlight, rpc } = deps;
  const now = performance.now();
  const all = inFlight.list();
  if (all.length === 0) return false;
  const due = all.filter((one) => one.phase === 'sent' && one.sendAt <= now && isSendable(one));
  for (const transaction of due) {
    transaction.sendAt = now + REBROADCAST_MS;
    void inTraceOf(transaction.intent.traceparent, () => rpc.broadcast(transaction.wire));
  }
  await publishSigned(deps);
  return true;
};
