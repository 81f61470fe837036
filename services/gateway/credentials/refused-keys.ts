import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { addressGroup } from '../../../shared/lib/chain/address.ts';
import type { Limits } from '../limits/limits.ts';

/**
 * A limit on the refused keys of one address. A key has 246 bits and cannot be guessed, but every
 * attempt queries identity. The limit must not lock out others who share the address with an
 * attacker. So a key that was good within the last minutes always passes, good keys are not
 * counted, and a good key that is new to this gateway waits for the window at worst. Access tokens
 * need no such limit: a forged one is refused without a query.
 */
export type RefusedKeys = {
  /**
   * Admits an attempt.
   * @throws ServiceError rate_limited for a key not known as good, from an address without attempts
   * left
   */
  admit: (attempt: KeyAttempt) => void;
  /** Counts a refused key, and remembers a good one. */
  record: (attempt: KeyAttempt, isGood: boolean) => Promise<void>;
};

type KeyAttempt = { environment: string; hash: string; address: string };

const REMEMBERED_MS = 10 * 60_000;
const MAX_ENTRIES = 10_000;

export const createRefusedKeys = ({ countRefusedKey }: Pick<Limits, 'countRefusedKey'>): RefusedKeys => {
  const good = new LRUCache<string, true>({ max: MAX_ENTRIES, ttl: REMEMBERED_MS });
  // Stored in memory, so that a good call needs no query to Redis. Another replica learns of it
  // with its own next refusal.
  const usedUp = new LRUCache<string, true>({ max: MAX_ENTRIES });
  const subjectOf = ({ environment, address }: KeyAttempt) => `${environment}:${addressGroup(address)}`;

  return {
    admit: (attempt) => {
      const waitMs = usedUp.getRemainingTTL(subjectOf(attempt));
      if (waitMs <= 0 || good.has(attempt.hash)) return;
      throw new ServiceError(
        'rate_limited',
        'too many refused credentials from this address; see the Retry-After header',
        {
          retryAfterSeconds: Math.ceil(waitMs / 1000),
        },
      );
    },
    record: async (attempt, isGood) => {
      if (isGood) return void good.set(attempt.hash, true);
      good.delete(attempt.hash);
      const subject = subjectOf(attempt);
      const { remaining, resetMs } = await countRefusedKey(subject);
      // The cache never expires an entry with a lifetime of 0.
      if (remaining === 0) usedUp.set(subject, true, { ttl: Math.max(1, resetMs) });
    },
  };
};
