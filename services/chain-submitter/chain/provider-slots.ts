import { count } from '../../../shared/lib/telemetry/metrics.ts';

/**
 * A slot older than this is not required of nodes that lag. After this time the chain counts as
 * reset.
 */
const FRESH_MS = 30_000;
/**
 * No honest provider is this many slots ahead of another (ten minutes), and none gains more slots
 * than this on another in a second.
 */
const MAX_AHEAD_SLOTS = 1500;
const MAX_SLOTS_PER_SECOND = 3;

type Reported = { slot: number; at: number };

/**
 * The newest slot that each provider has reported, by the provider's number. With several providers
 * a slot counts when two have reached it. Otherwise one provider could invent a slot that makes the
 * answers of all others too old.
 */
export const createProviderSlots = (providers: number) => {
  const slots = new Map<number, Reported>();
  return {
    /** Records the newest slot that a provider has reported. */
    record: (provider: number, slot: number): void => {
      const last = slots.get(provider);
      const now = performance.now();
      if (last === undefined || slot >= last.slot || now - last.at > FRESH_MS)
        slots.set(provider, { slot, at: now });
    },
    /** The newest slot that each provider has reported, and how many seconds ago. */
    report: () =>
      [...slots].map(([number, { slot, at }]) => ({
        number,
        slot,
        slot_age_seconds: Math.round((performance.now() - at) / 1000),
      })),
    /**
     * The slot that an answer must have reached to count as current; undefined while none is known.
     */
    fresh: (): number | undefined => {
      const since = performance.now() - FRESH_MS;
      const fresh = [...slots.values()].filter(({ at }) => at > since).map(({ slot }) => slot);
      return fresh.toSorted((a, b) => b - a)[providers > 1 ? 1 : 0];
    },
    /** Why a provider's slot is implausible; null when another provider's slot is near it. */
    findImplausibility: (provider: number, slot: number): string | null => {
      if (providers === 1) return null;
      const now = performance.now();
      const others = [...slots].filter(([number]) => number !== provider).map(([, reported]) => reported);
      // The next provider is then queried, and from there on the two are compared.
      if (others.length === 0) return 'no other provider’s slot is known yet';
      const reach = ({ slot: reported, at }: Reported) =>
        reported + MAX_AHEAD_SLOTS + ((now - at) / 1000) * MAX_SLOTS_PER_SECOND;
      if (others.some((reported) => slot <= reach(reported))) return null;
      count('quittance_anomalies_total', 1, { kind: 'providers_disagree' });
      return 'far ahead of every other provider';
    },
  };
};
