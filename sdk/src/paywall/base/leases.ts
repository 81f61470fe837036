import type { PaywallStore, StoreEntry } from './store.ts';

/** How long a replica that died holds a payment. */
const LEASE_MS = 30_000;
const HEARTBEAT_MS = 10_000;

const keepAlive = (beat: () => unknown): (() => void) => {
  const timer: unknown = setInterval(beat, HEARTBEAT_MS);
  // In Node the timer must not keep the process alive.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer as number);
};

export type Lock = {
  unlock: () => Promise<void>;
  /** Lets it end by itself, which costs no call of the store. */
  leave: () => void;
};

/**
 * Locks in the store of the replicas. A lock ends by `unlock`, or some seconds after it was left or
 * its process died, or after `maxMs`.
 */
export const createLeases = (store: PaywallStore, onError: (error: unknown) => void, maxMs: number) => {
  const leaseOf = (lock: string): StoreEntry => ({ key: lock, value: crypto.randomUUID(), ttlMs: LEASE_MS });

  /** Holds a lock whose entry was written. */
  const hold = ({ key: lock, value: lease }: StoreEntry): Lock => {
    const startedAt = Date.now();
    const stop = keepAlive(async () => {
      // A handler that never ends must not hold the payment without limit.
      if (Date.now() - startedAt > maxMs) return stop();
      try {
        await store.compareAndSet(lock, lease, lease, LEASE_MS);
      } catch (error) {
        onError(error);
      }
    });
    const unlock = async (): Promise<void> => {
      stop();
      try {
        await store.compareAndSet(lock, lease, null, 0);
      } catch (error) {
        onError(error);
      }
    };
    return { unlock, leave: stop };
  };
  return {
    /** The entry of a lock, which the caller writes. */
    leaseOf,
    hold,
    /** Takes the lock. Null: another request holds it. */
    take: async (lock: string): Promise<Lock | null> => {
      const lease = leaseOf(lock);
      return (await store.compareAndSet(lock, null, lease.value, lease.ttlMs)) ? hold(lease) : null;
    },
  };
};
