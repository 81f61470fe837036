import type { PaywallStore } from './store.ts';

/** How long a replica that died holds a payment. */
const LEASE_MS = 30_000;
const HEARTBEAT_MS = 10_000;

const keepAlive = (beat: () => unknown): (() => void) => {
  const timer: unknown = setInterval(beat, HEARTBEAT_MS);
  // In Node the timer must not keep the process alive.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer as number);
};

/**
 * Locks in the store of the replicas. A lock ends by `unlock`, or some seconds after its process
 * died, or after `maxMs`.
 */
export const createLeases =
  (store: PaywallStore, onError: (error: unknown) => void, maxMs: number) =>
  /** Takes the lock. Null: another request holds it. */
  async (lock: string): Promise<(() => Promise<void>) | null> => {
    const lease = crypto.randomUUID();
    if (!(await store.compareAndSet(lock, null, lease, LEASE_MS))) return null;
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
    return async () => {
      stop();
      try {
        await store.compareAndSet(lock, lease, null, 0);
      } catch (error) {
        onError(error);
      }
    };
  };
