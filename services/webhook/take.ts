import type { Deps } from './deps.ts';
import { EVENTS_OF, type FactName, type FactOf } from './domain/events.ts';
import { insertEvents } from './store/events.ts';

type Told = { [F in FactName]: (typeof EVENTS_OF)[F] extends null ? never : F }[FactName];

/** The consumer of a fact: writes what accounts are told of it, once, and has it delivered. */
export const take =
  <F extends Told>(name: F) =>
  ({ pool, pokeDeliveries }: Pick<Deps, 'pool' | 'pokeDeliveries'>) =>
  async (fact: FactOf<F>): Promise<void> => {
    const eventsOf = EVENTS_OF[name] as ((fact: FactOf<F>) => Parameters<typeof insertEvents>[1]) | null;
    const events = eventsOf?.(fact) ?? [];
    if (events.length === 0) return;
    const { deliveries } = await insertEvents(pool, events);
    if (deliveries > 0n) pokeDeliveries();
  };
