import type { EventName, EventPayload } from '../../../shared/contract/events.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { ACCOUNT_EVENTS, type NewEvent } from './model.ts';
import { insertEvents } from './store.ts';

/** The events of services that accounts get. */
type Delivered = {
  [N in EventName]: (typeof ACCOUNT_EVENTS)[N] extends null ? never : N;
}[EventName];

/** The subscriber of an event: turns its payload into the events of accounts. */
export const toAccountEvents =
  <N extends Delivered>(name: N) =>
  (payload: EventPayload<N>): NewEvent[] =>
    (ACCOUNT_EVENTS[name] as ((payload: EventPayload<N>) => NewEvent[]) | null)?.(payload) ?? [];

/** Writes the events of accounts, each once, and starts their delivery. */
export const recordEvents =
  ({ pool, sendDeliveriesNow }: { pool: Pool; sendDeliveriesNow: () => void }) =>
  async (events: readonly NewEvent[]): Promise<void> => {
    const { deliveries } = await insertEvents(pool, events);
    if (deliveries > 0n) sendDeliveriesNow();
  };
