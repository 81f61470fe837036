import type { WindowState } from './quota.ts';

/**
 * A gateway takes points of a busy window ahead and counts them alone, so that most calls need no
 * command of Redis.
 */

/** How long points that were taken ahead may be used. */
const LEASE_MS = 1000;
/** The part of a window's points that a gateway takes ahead at most. */
const LEASED_SHARE = 0.05;

type Granted = {
  granted: number;
  /** Points of the window that are free after the grant. */
  remaining: number;
  resetMs: number;
  /** Names the granted points where some are given back. */
  stamp: string;
};
/** Takes points of a window: those that waiting calls need, and more to use within the lease. */
export type Grant = (
  key: string,
  asked: { points: number; windowSeconds: number; needed: number; wanted: number; leaseMs: number },
) => Promise<Granted | null>;
type Release = (key: string, count: number, stamp: string) => Promise<void>;

/** A window that had a call within the time of a lease. */
type Window = {
  /** Granted points that are not used. */
  free: number;
  grant: Granted;
  /** Before the points were granted. */
  at: number;
  /** How many points the next command asks for: those that a lease is likely to use. */
  wanted: number;
  /** Calls that wait for the next command. */
  waiting: ((state: WindowState | null) => void)[];
  isAsking: boolean;
  timer: NodeJS.Timeout | undefined;
};

/** Consumes a point if one is free. Null if no command could be sent. */
type Consume = (key: string, points: number, windowSeconds: number) => Promise<WindowState | null>;

const NOTHING: Granted = { granted: 0, remaining: 0, resetMs: 0, stamp: '' };

const newWindow = (): Window => ({
  free: 0,
  grant: NOTHING,
  at: Number.NEGATIVE_INFINITY,
  wanted: 1,
  waiting: [],
  isAsking: false,
  timer: undefined,
});

const isOpen = ({ at }: Window): boolean => performance.now() - at < LEASE_MS;

/** Uses a point of the lease, or refuses where the window has granted none. */
const take = (window: Window): WindowState => {
  const { grant, at } = window;
  const resetMs = Math.max(0, grant.resetMs - (performance.now() - at));
  if (window.free === 0) return { passed: false, remaining: 0, resetMs };
  window.free -= 1;
  return { passed: true, remaining: grant.remaining + window.free, resetMs };
};

/**
 * Counts calls in windows whose points `grant` takes and `release` returns. Points of a lease that
 * no call has used are returned at its end.
 */
export const createLeases = (grant: Grant, release: Release): Consume => {
  const windows = new Map<string, Window>();

  const returnRest = (key: string, window: Window): void => {
    if (window.free > 0) void release(key, window.free, window.grant.stamp);
    window.free = 0;
  };

  const end = (key: string, window: Window): void => {
    if (window.isAsking) return;
    returnRest(key, window);
    windows.delete(key);
  };

  const ask = async (key: string, window: Window, points: number, windowSeconds: number): Promise<void> => {
    clearTimeout(window.timer);
    while (window.waiting.length > 0) {
      const { waiting } = window;
      window.waiting = [];
      // A lease that was used up in its time may be twice as large. A caller that calls rarely gets
      // the points of single calls.
      const likely = isOpen(window) ? Math.min(2 * window.wanted, Math.floor(points * LEASED_SHARE)) : 1;
      returnRest(key, window);
      const wanted = Math.max(waiting.length, likely);
      const at = performance.now();
      const asked = { points, windowSeconds, needed: waiting.length, wanted, leaseMs: LEASE_MS };
      const granted = await grant(key, asked);
      if (granted !== null) Object.assign(window, { at, wanted, grant: granted, free: granted.granted });
      for (const resolve of waiting) resolve(granted === null ? null : take(window));
      while (window.free > 0 && window.waiting.length > 0) window.waiting.shift()!(take(window));
    }
    window.isAsking = false;
    window.timer = setTimeout(end, LEASE_MS, key, window).unref();
  };

  return (key, points, windowSeconds) => {
    const window = windows.get(key) ?? newWindow();
    windows.set(key, window);
    if (window.free > 0 && isOpen(window)) return Promise.resolve(take(window));
    return new Promise((resolve) => {
      window.waiting.push(resolve);
      if (window.isAsking) return;
      window.isAsking = true;
      // After the requests that were read together, which the turn handles one by one.
      setImmediate(() => void ask(key, window, points, windowSeconds));
    });
  };
};
