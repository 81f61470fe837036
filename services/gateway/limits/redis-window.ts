import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { inSpan } from '../../../shared/lib/trace.ts';
import type { Redis } from '../redis/connect.ts';
import type { WindowState } from './quota.ts';

/**
 * After a failure Redis is not called for this time, so that a hanging server does not delay every
 * call.
 */
const PAUSE_MS = 1000;

/** How often a call that waits for the connection asks whether it is back. */
const BACK_POLL_MS = 25;
const SPAN = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'redis' } };

/** Sliding windows in Redis, shared by all replicas. */
type RedisWindow = {
  /** Consumes a point if one is free. Null while Redis is unavailable. */
  consume: (key: string, points: number, windowSeconds: number) => Promise<WindowState | null>;
  /** Waits for a lost connection. False if it is not back in time, or if Redis does not answer. */
  isBackWithin: (ms: number) => Promise<boolean>;
};

const stateOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes, passed: boolean): WindowState => ({
  passed,
  remaining: remainingPoints,
  resetMs: msBeforeNext,
});

/**
 * The windows of all limits. The script is registered once on the connection, for all of them.
 * @param script sliding-window.lua. The library's own script is a fixed window and allows twice the
 * points around its edge. This one stores a list of the times of the calls, which needs less memory
 * and time than a sorted set.
 */
export const createRedisWindow = ({ redis, script }: { redis: Redis; script: string }): RedisWindow => {
  const limiters = new Map<string, RateLimiterRedis>();
  let pausedUntil = 0;

  // One limiter per size of window. Each has the script, because a limiter without it would turn
  // all of them back into fixed windows.
  const limiterOf = (points: number, windowSeconds: number): RateLimiterRedis => {
    const id = `${points}/${windowSeconds}`;
    const limiter =
      limiters.get(id) ??
      new RateLimiterRedis({
        storeClient: redis,
        points,
        duration: windowSeconds,
        keyPrefix: 'calls',
        customIncrTtlLuaScript: script,
        rejectIfRedisNotReady: true,
      });
    limiters.set(id, limiter);
    return limiter;
  };

  return {
    consume: async (key, points, windowSeconds) => {
      if (performance.now() < pausedUntil) return null;
      try {
        const limiter = limiterOf(points, windowSeconds);
        return await inSpan('evalsha', SPAN, async (span) => {
          const state = await limiter.consume(key).then(
            (result) => stateOf(result, true),
            (reason: unknown) => {
              if (reason instanceof RateLimiterRes) return stateOf(reason, false);
              throw reason;
            },
          );
          span.setAttribute('quittance.limit.passed', state.passed);
          return state;
        });
      } catch {
        // A missing connection fails at once. Only a connected server that does not answer costs
        // time.
        if (redis.status === 'ready') pausedUntil = performance.now() + PAUSE_MS;
        return null;
      }
    },
    isBackWithin: async (ms) => {
      const until = performance.now() + ms;
      while (redis.status !== 'ready' && performance.now() < until) await sleep(BACK_POLL_MS);
      // A paused server is connected but does not answer.
      return redis.status === 'ready' && performance.now() >= pausedUntil;
    },
  };
};
