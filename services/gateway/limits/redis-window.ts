import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import { inSpan } from '../../../shared/lib/telemetry/trace.ts';
import type { Redis } from '../redis/connect.ts';
import { createLeases, type Grant } from './leases.ts';
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
  /** Consumes a point if one is free. Null while Redis is unavailable. */
  consume: (key: string, points: number, windowSeconds: number) => Promise<WindowState | null>;
  /** Gives the newest point back. Without effect while Redis is unavailable. */
  release: (key: string) => Promise<void>;
  /** Waits for a lost connection. False if it is not back in time, or if Redis does not answer. */
  isBackWithin: (ms: number) => Promise<boolean>;
};

type WindowCommands = Redis & {
  consumePoints: (
    key: string,
    ...numbers: number[]
  ) => Promise<[granted: number, used: number, resetMs: number, stamp: string]>;
};

/** Before the keys of all windows. */
const PREFIX = 'calls:';

/**
 * The windows of all limits, each a list of the times of its calls. That needs less memory and time
 * than a sorted set.
 * @param script sliding-window.lua
 */
export const createRedisWindow = ({ redis: connection, script }: RedisWindowDeps): RedisWindow => {
  connection.defineCommand('consumePoints', { numberOfKeys: 1, lua: script });
  const redis = connection as WindowCommands;
  let pausedUntil = 0;

  const consumePoints: Grant = async (key, { points, windowSeconds, needed, wanted, leaseMs }) => {
    if (performance.now() < pausedUntil) return null;
    try {
      return await inSpan('evalsha', SPAN, async (span) => {
        const answer = await redis.consumePoints(
          PREFIX + key,
          points,
          windowSeconds * 1000,
          needed,
          wanted,
          leaseMs,
        );
        const [granted, used, resetMs, stamp] = answer;
        span.setAttribute('quittance.limit.passed', granted >= needed);
        return { granted, remaining: Math.max(0, points - used), resetMs, stamp };
      });
    } catch {
      // A missing connection fails at once. Only a connected server that does not answer costs
      // time.
      if (redis.status === 'ready') pausedUntil = performance.now() + PAUSE_MS;
      return null;
    }
  };
  const releasePoints = async (key: string, count: number, stamp: string): Promise<void> => {
    if (performance.now() >= pausedUntil) await redis.lrem(PREFIX + key, -count, stamp).catch(() => 0);
  };

  return {
    consume: createLeases(consumePoints, releasePoints),
    release: async (key) => {
      if (performance.now() >= pausedUntil) await redis.rpop(PREFIX + key).catch(() => null);
    },
    isBackWithin: async (ms) => {
      const until = performance.now() + ms;
      while (redis.status !== 'ready' && performance.now() < until) await sleep(BACK_POLL_MS);
      // A paused server is connected but does not answer.
      return redis.status === 'ready' && performance.now() >= pausedUntil;
    },
  };
};
