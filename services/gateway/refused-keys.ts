import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../shared/contract/errors.ts';
import { addressGroup } from './address.ts';
import type { Limits } from './limits.ts';

/**
 * A cap on the keys that one address gets refused: nobody guesses 256 bits, but every try asks identity. It must not
 * lock out those who share the address with whoever tries, so a key that was good within the last minutes is never
 * held up, good answers count for nothing, and a good key that is new here waits for the window at worst
 * (docs/adr/0019-refused-keys.md). Access tokens need none of it: a forged one is refused without asking anybody.
 */
export type RefusedKeys = {
  /** @throws ServiceError rate_limited for a key not known to be good, from an address that has used up its tries */
  admit: (key: Tried) => void;
  /** Counts a refused key, and remembers a good one. */
  told: (key: Tried, good: boolean) => Promise<void>;
};

export type Tried = { environment: string; hash: string; address: string };

const KNOWN_GOOD_MS = 10 * 60_000;
const MAX_ENTRIES = 10_000;

export const createRefusedKeys = ({ countRefusedKey }: Pick<Limits, 'countRefusedKey'>): RefusedKeys => {
  const good = new LRUCache<string, true>({ max: MAX_ENTRIES, ttl: KNOWN_GOOD_MS });
  // Known here, so that a good call costs no question to Redis: another replica hears of it by its own next refusal.
  const usedUp = new LRUCache<string, true>({ max: MAX_ENTRIES });
  const triesOf = ({ environment, address }: Tried) => `${environment}:${addressGroup(address)}`;

  return {
    admit: (tried) => {
      const waitMs = usedUp.getRemainingTTL(triesOf(tried));
      if (waitMs <= 0 || good.has(tried.hash)) return;
      throw new ServiceError('rate_limited', 'too many refused credentials from this address', {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      });
    },
    told: async (tried, isGood) => {
      if (isGood) return void good.set(tried.hash, true);
      good.delete(tried.hash);
      const tries = triesOf(tried);
      const { remaining, resetMs } = await countRefusedKey(tries);
      // A life of 0 would be one without an end.
      if (remaining === 0) usedUp.set(tries, true, { ttl: Math.max(1, resetMs) });
    },
  };
};
