import { LRUCache } from 'lru-cache';
import type { WindowState } from './quota.ts';

/**
 * A true sliding window in the memory of this process. It limits what the gateway answers itself.
 * It is also the fallback for calls that go on while Redis is unavailable. Each replica then counts
 * for itself.
 */
type InMemoryWindow = {
  /** Consumes a point if one is free. */
  consume: (key: string, points: number, windowSeconds: number) => WindowState;
};

/**
 * Creates a window with its own counts.
 * @param maxKeys beyond it the least recently used key is dropped, so that a flood of keys cannot
 * grow the process
 */
export const createInMemoryWindow = ({
  now = () => performance.now(),
  maxKeys = 50_000,
}: {
  now?: () => number;
  maxKeys?: number;
} = {}): InMemoryWindow => {
  const consumed = new LRUCache<string, number[]>({ max: maxKeys });
  return {
    consume: (key, points, windowSeconds) => {
      const at = now();
      const windowMs = windowSeconds * 1000;
      const recent = (consumed.get(key) ?? []).filter((time) => at - time < windowMs);
      const passed = recent.length < points;
      if (passed) recent.push(at);
      consumed.set(key, recent);
      return {
        passed,
        remaining: Math.max(0, points - recent.length),
        resetMs: windowMs - (at - recent[0]!),
      };
    },
  };
};
