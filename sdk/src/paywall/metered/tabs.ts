import { later, pause } from '../../wait.ts';
import type { Authorization, Left } from '../base/authorizations.ts';
import { isInMemory, type PaywallStore } from '../base/store.ts';
import { type Ceilings, createCeilings } from './ceilings.ts';

/**
 * What is left of tabs, in the store of the replicas. A call takes its price of the number in the
 * same step that writes its record, so a tab is never used beyond its ceiling, and most calls are
 * one step of the store. The number of a closed tab is -1, of which nothing can be taken.
 */
const CLOSED = '-1';
/** Beyond the end of the window, so that a closed tab is not opened again. */
const BEYOND_MS = 3_600_000;
/** As long as a request can be repeated, its buyer can ask what it has cost. */
const USAGE_MS = 600_000;
/** Other calls change the number meanwhile. */
const MAX_TRIES = 200;

/**
 * A replica that serves calls of a tab, or has use of it to report, for longer than this marks the
 * tab. So no other one captures it meanwhile.
 */
const BEAT_MS = 1500;
const MARKED_MS = 6000;
/** Until then the mark of a call is written that began before its tab was closed. */
const GRACE_MS = 3000;

const counterOf = (key: string): string => `${key}:left`;
/** What the number was when the tab was closed, and what calls have given back since. */
const closedOf = (key: string): string => `${key}:closed`;
/** What a call has cost whose answer went out before that was known. */
const usageOf = (key: string, requestId: string): string => `${key}:usage:${requestId}`;
const markOf = (key: string): string => `${key}:busy`;
const untilOf = ({ endsAt }: Authorization): number => Math.max(1, endsAt - Date.now()) + BEYOND_MS;

/** Marks the tabs that this replica has something to do with. */
const createMarks = (store: PaywallStore, onError: (error: unknown) => void) => {
  const beating = new Set<string>();
  const mark = async (key: string): Promise<void> => {
    const found = await store.get(markOf(key));
    await store.compareAndSet(markOf(key), found, String(Date.now()), MARKED_MS);
  };
  const beat = (key: string, authorization: Authorization): void => {
    later(BEAT_MS, () => {
      if (!authorization.isBusy() || Date.now() > authorization.endsAt) {
        beating.delete(key);
        return;
      }
      mark(key).catch(onError);
      beat(key, authorization);
    });
  };
  return {
    begin: (key: string, authorization: Authorization): void => {
      if (beating.has(key)) return;
      beating.add(key);
      beat(key, authorization);
    },
    isMarked: async (key: string): Promise<boolean> => (await store.get(markOf(key))) !== null,
  };
};

/** Ends tabs that other replicas may serve. */
const createClosing = (store: PaywallStore, ceilings: Ceilings, onError: (error: unknown) => void) => {
  const marks = createMarks(store, onError);

  /** Closes the number of a tab for all replicas, and keeps what it was. */
  const shut = async (key: string, authorization: Authorization): Promise<void> => {
    const ttlMs = untilOf(authorization);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const text = await store.get(counterOf(key));
      if (text === CLOSED) return;
      if (!(await store.compareAndSet(counterOf(key), text, CLOSED, ttlMs))) continue;
      // Without a number nothing was taken.
      await store.compareAndSet(closedOf(key), null, text ?? String(authorization.ceiling()), ttlMs);
      return;
    }
  };
  /**
   * True if the API knows of all that calls of any replica have taken of a closed tab. A call that
   * runs has taken the most that it can cost.
   */
  const isAllReported = async (key: string, authorization: Authorization): Promise<boolean> => {
    try {
      const left = await store.get(closedOf(key));
      if (left === null) return false;
      const ceiling = (await ceilings.read(key))?.ceiling ?? authorization.ceiling();
      return ceiling - BigInt(left) <= authorization.used();
    } catch (error) {
      onError(error);
      return false;
    }
  };
  /** Waits until no other replica serves a call on a closed tab, or has use of it to report. */
  const others = async (key: string, authorization: Authorization): Promise<void> => {
    if (await isAllReported(key, authorization)) return;
    await pause(GRACE_MS);
    if (!(await marks.isMarked(key))) return;
    // A mark outlasts what it is for.
    await authorization.refresh().catch(onError);
    if (await isAllReported(key, authorization)) return;
    while (Date.now() < authorization.endsAt && (await marks.isMarked(key))) await pause(BEAT_MS);
  };
  return { mark: marks.begin, shut, isAllReported, others };
};

/** The numbers of tabs. */
export const createTabs = (store: PaywallStore, onError: (error: unknown) => void) => {
  const isShared = !isInMemory(store);
  const ceilings = createCeilings(store, counterOf);
  const closing = createClosing(store, ceilings, onError);

  return {
    counterOf,
    /** A call begins, so the tab must not be captured by another replica. */
    serving: (key: string, authorization: Authorization): void => {
      if (isShared) closing.mark(key, authorization);
    },
    /** What the number is. Null: the store has none. */
    read: async (key: string): Promise<bigint | null> => {
      const text = await store.get(counterOf(key));
      return text === null ? null : BigInt(text);
    },
    /** Writes the number of a tab that the store does not have. @param extend it can grow later */
    fill: async (key: string, state: Left, authorization: Authorization, extend: boolean): Promise<void> => {
      if (extend) await ceilings.fill(key, state, untilOf(authorization));
      else await store.compareAndSet(counterOf(key), null, state.left, untilOf(authorization));
    },
    /** What the number is of. Null: of a ceiling that is not extended. */
    counted: ceilings.read,
    /** Adds to the number what the buyer has added to the ceiling. */
    extend: (key: string, from: bigint, to: bigint, authorization: Authorization): Promise<void> =>
      ceilings.extend(key, from, to, untilOf(authorization)),
    /** Gives back what a call has not used. @returns what is left, or null if the tab is closed */
    release: async (key: string, amountMicro: bigint): Promise<bigint | null> => {
      const left = await store.take!(counterOf(key), -amountMicro, []);
      if (typeof left === 'bigint') return left;
      await store.take!(closedOf(key), -amountMicro, []);
      return null;
    },
    /** Keeps what a call has cost, for its buyer. */
    keepUsage: async (key: string, requestId: string, usage: string): Promise<void> => {
      const name = usageOf(key, requestId);
      await store.compareAndSet(name, await store.get(name), usage, USAGE_MS);
    },
    /** Null: the call is not known, or goes on. */
    readUsage: (key: string, requestId: string) => store.get(usageOf(key, requestId)),
    /** Closes a tab and captures it, once its calls have ended. */
    end: (key: string, authorization: Authorization, reason: 'used_up' | 'closed'): Promise<void> =>
      authorization.end(reason, {
        before: () => closing.shut(key, authorization),
        ...(isShared && {
          others: () => closing.others(key, authorization),
          isAllReported: () => closing.isAllReported(key, authorization),
        }),
      }),
  };
};
export type Tabs = ReturnType<typeof createTabs>;
