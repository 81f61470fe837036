import { LRUCache } from 'lru-cache';
import type { Taken } from './quota.ts';

/**
 * A true sliding window in this process: the limiter of what the gateway answers by itself, and of all calls
 * that may go on while Redis is away. Each replica counts for itself then.
 */
export type SlidingWindow = {
  /** Takes a point when one is free. */
  take: (key: string, points: number, windowSeconds: number) => Taken;
};

/** @param maxKeys the key that was quiet longest is dropped beyond it, so that a flood of keys cannot grow the process */
export const createSlidingWindow = ({
  now = () => performance.now(),
  maxKeys = 50_000,
}: {
  now?: () => number;
  maxKeys?: number;
} = {}): SlidingWindow => {
  const taken = new LRUCache<string, number[]>({ max: maxKeys });
  return {
    take: (key, points, windowSeconds) => {
      const at = now();
      const windowMs = windowSeconds * 1000;
      const recent = (taken.get(key) ?? []).filter((time) => at - time < windowMs);
      const passed = recent.length < points;
      if (passed) recent.push(at);
      taken.set(key, recent);
      return {
        passed,
        remaining: Math.max(0, points - recent.length),
        resetMs: windowMs - (at - recent[0]!),
      };
    },
  };
};
