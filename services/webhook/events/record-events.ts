import type { EventName, EventPayload } from '../../../shared/contract/events.ts';
import type { Deps } from '../deps.ts';
import { EVENTS_OF, type NewEvent } from './model.ts';
import { insertEvents } from './store.ts';

/** What accounts are notified of. */
type Notified = { [N in EventName]: (typeof EVENTS_OF)[N] extends null ? never : N }[EventName];

/** The consumer of an event: what its accounts get of it. */
export const accountEventsOf =
  <N extends Notified>(name: N) =>
  (payload: EventPayload<N>): NewEvent[] =>
    (EVENTS_OF[name] as ((payload: EventPayload<N>) => NewEvent[]) | null)?.(payload) ?? [];

/** Writes what accounts get, each once, and has it delivered. */
export const recordEvents =
  ({ pool, pokeDeliveries }: Pick<Deps, 'pool' | 'pokeDeliveries'>) =>
  async (events: readonly NewEvent[]): Promise<void> => {
    const { deliveries } = await insertEvents(pool, events);
    if (deliveries > 0n) pokeDeliveries();
  };
