import type { Records } from '../../../shared/boot.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { acceptedEvent } from '../record/events.ts';
import { insertAcceptedEvents } from '../record/store/accepted-events.ts';
import type { Terms } from '../record/store/settlements.ts';

/**
 * Most payments end within two seconds, and their last event says everything. So
 * `settlement.accepted` is held for two seconds, and published only if the payment is still open.
 * chain-submitter treats `signed` in the same way.
 */
const HELD_FOR_MS = 2000;

type Held = { event: ReturnType<typeof acceptedEvent>; heldSince: number };

/**
 * The events of the payments that this replica has accepted, in their order. If the process ends,
 * the job of a payment is dispatched again after 15 s, and the event with it.
 */
export const createAcceptedEvents = () => {
  const held = new Map<string, Held>();
  return {
    hold: (terms: Terms): void => {
      const event = acceptedEvent(terms, { traceparent: activeTraceparent() });
      held.set(terms.settlement_id, { event, heldSince: performance.now() });
    },
    /** The payment has ended. */
    drop: (settlementId: string): void => void held.delete(settlementId),
    /** Those that were held long enough, by settlement. */
    due: (): ReadonlyMap<string, Held> => {
      const before = performance.now() - HELD_FOR_MS;
      return new Map([...held].filter(([, { heldSince }]) => heldSince <= before));
    },
    isEmpty: (): boolean => held.size === 0,
  };
};
export type AcceptedEvents = ReturnType<typeof createAcceptedEvents>;

/**
 * Publishes the events of payments that take long. Another replica may have recorded the end of
 * one, so the statement reads its state.
 * @returns whether payments are under way
 */
export const publishAccepted =
  ({ pool, relay, accepted }: Pick<Records, 'pool' | 'relay'> & { accepted: AcceptedEvents }) =>
  async (): Promise<boolean> => {
    const due = accepted.due();
    if (due.size === 0) return !accepted.isEmpty();
    relay.dispatch(
      await insertAcceptedEvents(
        pool,
        [...due.values()].map(({ event }) => event),
      ),
    );
    for (const settlementId of due.keys()) accepted.drop(settlementId);
    return true;
  };
