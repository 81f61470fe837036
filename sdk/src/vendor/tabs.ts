import { later, pause } from '../wait.ts';
import type { Authorization, Left } from './authorizations.ts';
import { createCeilings } from './ceilings.ts';
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
const untilOf = ({ endsAt }: Authorization): number => Math.max(1, endsAt - Date.now()) + BEYOND_MS;
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
  const ceilings = createCeilings(store, counterOf);

  /** Closes the number of a tab for all replicas. */
  const shut = async (key: string, authorization: Authorization): Promise<void> => {
    const ttlMs = untilOf(authorization);
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
    /** Writes the number of a tab that the store does not have. @param topUp it can grow later */
    fill: async (key: string, state: Left, authorization: Authorization, topUp: boolean): Promise<void> => {
      if (topUp) await ceilings.fill(key, state, untilOf(authorization));
      else await store.compareAndSet(counterOf(key), null, state.left, untilOf(authorization));
    },
    /** What the number is of. Null: of a ceiling that is not raised. */
    counted: ceilings.read,
    /** Adds to the number what the buyer has added to the ceiling. */
    raise: (key: string, from: bigint, to: bigint, authorization: Authorization): Promise<void> =>
      ceilings.raise(key, from, to, untilOf(authorization)),
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
