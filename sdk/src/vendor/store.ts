/**
 * What the replicas of a vendor share to hand out each delivery once: texts by key, each with an
 * end. One row or key of any database does; `examples/` has Redis and Postgres. It holds what was
 * bought (stored answers) and the quotes that anybody is handed, but no settlement token and no
 * key. Who can write to it can change what buyers are asked to pay.
 */
export type PaywallStore = {
  /** The value that stands, null when there is none or its time is over. */
  get: (key: string) => Promise<string | null> | string | null;
  /**
   * Writes `next` for `ttlMs`, or removes the key when it is null, if what stands is exactly
   * `expected` (null: nothing). Atomic. Answers whether it did.
   */
  compareAndSet: (
    key: string,
    expected: string | null,
    next: string | null,
    ttlMs: number,
  ) => Promise<boolean> | boolean;
};

const MEMORY_CHARACTERS = 32_000_000;

/**
 * A store of this process alone. The API's gate keeps every settlement to one delivery also without
 * a shared store, but what a crash or another replica would have to know to deliver again is lost:
 * the buyer has then paid for nothing.
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
      // Oldest first. What makes room is answers: without its record a settlement is refused or
      // takes a unit, never delivered free.
      if (Date.now() >= endsAt || (size > MEMORY_CHARACTERS && value.length > 1000)) remove(key);
      else if (size <= MEMORY_CHARACTERS) return;
    }
  };
  return {
    get,
    compareAndSet: (key, expected, next, ttlMs) => {
      if (get(key) !== expected) return false;
      remove(key);
      if (next !== null) {
        held.set(key, { value: next, endsAt: Date.now() + ttlMs });
        size += next.length;
      }
      makeRoom();
      return true;
    },
  };
};
