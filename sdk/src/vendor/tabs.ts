import { later, pause } from '../wait.ts';
import type { Authorization } from './authorizations.ts';
import { isInMemory, type PaywallStore } from './store.ts';

/**
 * What is left of tabs, in the store of the replicas. A call takes its price of the number in the
 * same step that writes its record, so a tab is never used beyond its ceiling, and most calls are
 * one step of the store. The number of a closed tab is -1, of which nothing can be taken.
 */
const CLOSED = '-1';
/** Beyond the end of the window, so that a closed tab is not opened again. */
const BEYOND_MS = 3_600_000;
/** Other calls change the number meanwhile. */
const MAX_TRIES = 200;

/** A replica whose calls take longer marks the tab, so that no other one captures it meanwhile. */
const SHORT_MS = 1000;
const BEAT_MS = 2000;
const BUSY_MS = 6000;

const counterOf = (key: string): string => `${key}:left`;
const busyOf = (key: string): string => `${key}:busy`;

/** Marks tabs whose calls take long, while they do. */
const createBeats = (store: PaywallStore, onError: (error: unknown) => void) => {
  const beating = new Set<string>();
  const mark = async (key: string): Promise<void> => {
    const found = await store.get(busyOf(key));
    await store.compareAndSet(busyOf(key), found, String(Date.now()), BUSY_MS);
  };
  const beat = (key: string, authorization: Authorization): void => {
    const oldest = authorization.calls.oldest();
    if (oldest === null) {
      beating.delete(key);
      return;
    }
    if (Date.now() - oldest >= SHORT_MS) mark(key).catch(onError);
    wait(key, () => beat(key, authorization));
  };
  const wait = (key: string, run: () => void): void => {
    later(beating.has(key) ? BEAT_MS : SHORT_MS, run);
  };
  return (key: string, authorization: Authorization): void => {
    if (beating.has(key)) return;
    wait(key, () => beat(key, authorization));
    beating.add(key);
  };
};

/** The numbers of tabs. */
export const createTabs = (store: PaywallStore, onError: (error: unknown) => void) => {
  const isShared = !isInMemory(store);
  const beat = createBeats(store, onError);

  /** Closes the number of a tab for all replicas. */
  const shut = async (key: string, { endsAt }: Authorization): Promise<void> => {
    const ttlMs = Math.max(0, endsAt - Date.now()) + BEYOND_MS;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const text = await store.get(counterOf(key));
      if (text === CLOSED || (await store.compareAndSet(counterOf(key), text, CLOSED, ttlMs))) return;
    }
  };
  /** Waits until no other replica serves a call on a tab that is closed. */
  const others = async (key: string, { endsAt }: Authorization): Promise<void> => {
    if (!isShared) return;
    await pause(SHORT_MS + BEAT_MS);
    while (Date.now() < endsAt && (await store.get(busyOf(key))) !== null) await pause(BEAT_MS);
  };

  return {
    counterOf,
    /** A call begins, so the tab must not be captured by another replica. */
    serving: (key: string, authorization: Authorization): void => {
      if (isShared) beat(key, authorization);
    },
    /** What the number is. Null: the store has none. */
    read: async (key: string): Promise<bigint | null> => {
      const text = await store.get(counterOf(key));
      return text === null ? null : BigInt(text);
    },
    /** Writes the number of a tab that the store does not have. */
    fill: async (key: string, left: string, { endsAt }: Authorization): Promise<void> => {
      await store.compareAndSet(counterOf(key), null, left, Math.max(1, endsAt - Date.now()) + BEYOND_MS);
    },
    /** Gives back what a call has not used. @returns what is left, or null if the tab is closed */
    giveBack: async (key: string, amountMicro: bigint): Promise<bigint | null> => {
      const left = await store.take!(counterOf(key), -amountMicro, []);
      return typeof left === 'bigint' ? left : null;
    },
    /** Closes a tab and captures it, once its calls have ended. */
    end: (key: string, authorization: Authorization, reason: 'used_up' | 'closed'): Promise<void> =>
      authorization.end(reason, {
        before: () => shut(key, authorization),
        others: () => others(key, authorization),
      }),
  };
};
export type Tabs = ReturnType<typeof createTabs>;
