import type { Deps } from './deps.ts';
import { EVENTS_OF, type FactName, type FactOf, type NewEvent } from './domain/events.ts';
import { insertEvents } from './store/events.ts';

type Told = { [F in FactName]: (typeof EVENTS_OF)[F] extends null ? never : F }[FactName];

/** The consumer of a fact: what accounts are told of it. */
export const take =
  <F extends Told>(name: F) =>
  (fact: FactOf<F>): NewEvent[] =>
    (EVENTS_OF[name] as ((fact: FactOf<F>) => NewEvent[]) | null)?.(fact) ?? [];

/** Writes what accounts are told, each once, and has it delivered. */
export const tell =
  ({ pool, pokeDeliveries }: Pick<Deps, 'pool' | 'pokeDeliveries'>) =>
  async (events: readonly NewEvent[]): Promise<void> => {
    const { deliveries } = await insertEvents(pool, events);
    if (deliveries > 0n) pokeDeliveries();
  };
