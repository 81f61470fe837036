export type StoreEntry = { key: string; value: string; ttlMs: number };

/**
 * Shared by the replicas of a vendor, so that each delivery is made once: texts by key, each with
 * an expiry. One row or key of any database suffices; `examples/` has Redis and Postgres. It holds
 * stored answers and the shared quotes, but no settlement token and no key. Whoever can write to it
 * can change what buyers have to pay.
 */
export type PaywallStore = {
  /** The value, or null if there is none or it has expired. */
  get: (key: string) => Promise<string | null> | string | null;
  /**
   * Writes `next` for `ttlMs`, or removes the key if `next` is null, provided that the value is
   * exactly `expected` (null: none). Atomic. Returns whether it wrote.
   */
  compareAndSet: (
    key: string,
    expected: string | null,
    next: string | null,
    ttlMs: number,
  ) => Promise<boolean> | boolean;
  /**
   * Optional. Routes with `tab` need it. One atomic step: provided that no
   * key of `entries` has a value and that the decimal number at `counter` is at least `amount` and
   * not negative, lowers the number by `amount`, keeps its expiry, and writes the entries. A
   * negative amount raises the number.
   * @returns the number that is left, or why nothing was written: `held` if a key has a value, else
   * `empty`
   */
  take?: (counter: string, amount: bigint, entries: readonly StoreEntry[]) => Promise<Taken> | Taken;
};
export type Taken = bigint | 'held' | 'empty';
/** The largest number that every store counts exactly. */
export const MOST_COUNTED = BigInt(Number.MAX_SAFE_INTEGER);

/** A payment was redeemed, and this process has no record of it. */
export class UnsharedStoreError extends Error {
  override readonly name: string = 'unshared_store';
  constructor(paymentId: string) {
    super(
      `settlement ${paymentId} was redeemed by another process, before a restart or more than 10 minutes ago, so it is not delivered again. ` +
        'Replicas and restarts need a store that they share (examples/redis-store.ts, postgres-store.ts)',
    );
  }
}

const inMemory = new WeakSet<PaywallStore>();
/** True for `memoryStore()`, which other processes do not share. */
export const isInMemory = (store: PaywallStore): boolean => inMemory.has(store);

const MEMORY_CHARACTERS = 32_000_000;

/**
 * A store in the memory of this process, for a first try. It is lost at a restart. The API limits
 * every settlement to one delivery even without a shared store. But after a crash, or on another
 * replica, the second try of a failed delivery is lost, and the buyer has paid for nothing.
 */
export const memoryStore = (): PaywallStore => {
  const held = new Map<string, { value: string; endsAt: number }>();
  let size = 0;
  const remove = (key: string) => {
    size -= held.get(key)?.value.length ?? 0;
    held.delete(key);
  };
  const get = (key: string) => {
    const found = held.get(key);
    return found !== undefined && Date.now() < found.endsAt ? found.value : null;
  };
  const makeRoom = () => {
    for (const [key, { value, endsAt }] of held) {
      // Oldest first. Only answers are removed early. Without its record a settlement is refused or
      // consumes a unit, and is never delivered for free.
      if (Date.now() >= endsAt || (size > MEMORY_CHARACTERS && value.length > 1000)) remove(key);
      else if (size <= MEMORY_CHARACTERS) return;
    }
  };
  const set = (key: string, value: string, endsAt: number) => {
    remove(key);
    held.set(key, { value, endsAt });
    size += value.length;
  };
  const store: PaywallStore = {
    get,
    compareAndSet: (key, expected, next, ttlMs) => {
      if (get(key) !== expected) return false;
      if (next === null) remove(key);
      else set(key, next, Date.now() + ttlMs);
      makeRoom();
      return true;
    },
    take: (counter, amount, entries) => {
      if (entries.some(({ key }) => get(key) !== null)) return 'held';
      const number = BigInt(get(counter) ?? -1);
      if (number < 0n || number < amount) return 'empty';
      const left = number - amount;
      set(counter, String(left), held.get(counter)!.endsAt);
      for (const { key, value, ttlMs } of entries) set(key, value, Date.now() + ttlMs);
      makeRoom();
      return left;
    },
  };
  inMemory.add(store);
  return store;
};
