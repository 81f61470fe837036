import { inTraceOf } from '../../../shared/lib/trace.ts';
import type { Deps } from '../deps.ts';
import { RESEND_MS } from '../launch.ts';

/** Sends the same bytes again to every provider, every 2 s until they are confirmed or expired (rule 10). */
export const rebroadcast = async ({ flights, rpc }: Deps): Promise<void> => {
  const now = performance.now();
  const due = flights
    .inAir()
    .filter(({ phase, wire, sendAt }) => phase === 'sent' && wire.length > 0 && sendAt <= now);
  for (const flight of due) {
    flight.sendAt = now + RESEND_MS;
    void inTraceOf(flight.intent.traceparent, () => rpc.broadcast(flight.wire));
  }
};
