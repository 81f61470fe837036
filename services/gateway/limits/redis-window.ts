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

export type RedisWindowDeps = {
  redis: Redis;
  /** The text of sliding-window.lua. */
  script: string;
};

/** Sliding windows in Redis, shared by all replicas. */
type RedisWindow = {
  /**
   * Consumes a point if one is free. Null while Redis is unavailable. Concurrent calls of one
   * window share a command.
   */
  consume: (key: string, points: number, windowSeconds: number) => Promise<WindowState | null>;
  /** Gives a consumed point back. Without effect while Redis is unavailable. */
  giveBack: (key: string, points: number, windowSeconds: number) => Promise<void>;
  /** Waits for a lost connection. False if it is not back in time, or if Redis does not answer. */
  isBackWithin: (ms: number) => Promise<boolean>;
};

/**
 * Consumes a point for each of the calls by one command. Where fewer are free, the first calls get
 * them, as if each had asked alone.
 * @returns the states in the order of the calls
 */
const consumePoints = async (
  limiter: RateLimiterRedis,
  key: string,
  calls: number,
): Promise<WindowState[]> => {
  const [result, passed] = await limiter.consume(key, calls).then(
    (consumed) => [consumed, true] as const,
    (reason: unknown) => {
      if (reason instanceof RateLimiterRes) return [reason, false] as const;
      throw reason;
    },
  );
  const { remainingPoints, consumedPoints, msBeforeNext: resetMs } = result;
  if (passed)
    return Array.from({ length: calls }, (_, index) => ({
      passed,
      remaining: remainingPoints + calls - 1 - index,
      resetMs,
    }));
  // A refused command has consumed nothing, and the number includes what it asked for.
  const free = limiter.points - (consumedPoints - calls);
  if (calls > 1 && free > 0)
    return [
      ...(await consumePoints(limiter, key, free)),
      ...(await consumePoints(limiter, key, calls - free)),
    ];
  return Array<WindowState>(calls).fill({ passed, remaining: 0, resetMs });
};

type Send = (calls: number) => Promise<WindowState[] | null>;

/**
 * Has the calls of a window share commands: one for those of a turn, and for those that arrive
 * while another command of the window is open.
 */
const createSharing = () => {
  /** The calls of each window that wait for its next command. */
  const waiting = new Map<string, ((state: WindowState | null) => void)[]>();

  const work = async (id: string, send: Send): Promise<void> => {
    for (let calls = waiting.get(id)!; calls.length > 0; calls = waiting.get(id)!) {
      waiting.set(id, []);
      const states = await send(calls.length);
      for (const [index, resolve] of calls.entries()) resolve(states?.[index] ?? null);
    }
    waiting.delete(id);
  };

  return (id: string, send: Send): Promise<WindowState | null> =>
    new Promise((resolve) => {
      const others = waiting.get(id);
      if (others !== undefined) return void others.push(resolve);
      waiting.set(id, [resolve]);
      // After the requests that were read together, which the turn handles one by one.
      setImmediate(() => void work(id, send));
    });
};

/**
 * The windows of all limits. The script is registered once on the connection, for all of them.
 * @param script sliding-window.lua. The library's own script is a fixed window and allows twice the
 * points around its edge. This one stores a list of the times of the calls, which needs less memory
 * and time than a sorted set.
 */
export const createRedisWindow = ({ redis, script }: RedisWindowDeps): RedisWindow => {
  const limiters = new Map<string, RateLimiterRedis>();
  const share = createSharing();
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

  const consumeFor = async (key: string, points: number, windowSeconds: number, calls: number) => {
    if (performance.now() < pausedUntil) return null;
    try {
      const limiter = limiterOf(points, windowSeconds);
      return await inSpan('evalsha', SPAN, async (span) => {
        const states = await consumePoints(limiter, key, calls);
        span.setAttribute(
          'quittance.limit.passed',
          states.every(({ passed }) => passed),
        );
        return states;
      });
    } catch {
      // A missing connection fails at once. Only a connected server that does not answer costs
      // time.
      if (redis.status === 'ready') pausedUntil = performance.now() + PAUSE_MS;
      return null;
    }
  };

  return {
    consume: (key, points, windowSeconds) =>
      share(`${points}/${windowSeconds}/${key}`, (calls) => consumeFor(key, points, windowSeconds, calls)),
    giveBack: async (key, points, windowSeconds) => {
      if (performance.now() < pausedUntil) return;
      await limiterOf(points, windowSeconds)
        .reward(key)
        .catch(() => undefined);
    },
    isBackWithin: async (ms) => {
      const until = performance.now() + ms;
      while (redis.status !== 'ready' && performance.now() < until) await sleep(BACK_POLL_MS);
      // A paused server is connected but does not answer.
      return redis.status === 'ready' && performance.now() >= pausedUntil;
    },
  };
};
