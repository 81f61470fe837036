import { count } from '../../../shared/lib/metrics.ts';

/** How long a slot that was seen is asked of nodes that may lag behind; after it a chain counts as set back. */
const FRESH_MS = 30_000;
/** No honest provider is so many slots ahead of another (ten minutes), nor gains so many on it in a second. */
const MAX_AHEAD_SLOTS = 1500;
const MAX_SLOTS_PER_SECOND = 3;

type Known = { slot: number; at: number };

/**
 * The newest slots that the providers have reported, each by its number. A slot counts when two have reached it, where
 * there are two: one that invents a slot would otherwise make all answers of the others too old.
 */
export const createSlots = (providers: number) => {
  const slots = new Map<number, Known>();
  return {
    /** Remembers the newest slot that a provider has reported. */
    see: (provider: number, slot: number): void => {
      const known = slots.get(provider);
      const now = performance.now();
      if (known === undefined || slot >= known.slot || now - known.at > FRESH_MS)
        slots.set(provider, { slot, at: now });
    },
    /** A lagging node is not believed about older state than this slot; undefined while none is known. */
    fresh: (): number | undefined => {
      const since = performance.now() - FRESH_MS;
      const fresh = [...slots.values()].filter(({ at }) => at > since).map(({ slot }) => slot);
      return fresh.toSorted((a, b) => b - a)[providers > 1 ? 1 : 0];
    },
    /** Why a provider's slot is not believed, null when it is: another one can be near it. */
    implausible: (provider: number, slot: number): string | null => {
      if (providers === 1) return null;
      const now = performance.now();
      const others = [...slots].filter(([number]) => number !== provider).map(([, known]) => known);
      // At the start one provider's slot is all there is: the next one is asked, and the two are compared.
      if (others.length === 0) return 'no other provider’s slot is known yet';
      const reach = ({ slot: known, at }: Known) =>
        known + MAX_AHEAD_SLOTS + ((now - at) / 1000) * MAX_SLOTS_PER_SECOND;
      if (others.some((known) => slot <= reach(known))) return null;
      count('quittance_anomalies_total', 1, { kind: 'providers_disagree' });
      return 'far ahead of every other provider';
    },
  };
};
