import { Redis } from 'ioredis';
import { batched } from '../../shared/db/batched.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import type { Taken } from './quota.ts';

/**
 * Limits as true sliding windows over all gateways: a list of the times of the calls for each key. A refused call takes no
 * point, and the wait it is told is when the oldest point comes free. A list, since a sorted set takes eight times the
 * memory and more time (libraries count fixed windows, which let twice the points through around their edge).
 */
const SLIDING_WINDOW_LUA = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local answer = {}
for i, key in ipairs(KEYS) do
  local max, window = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local first = redis.call('LINDEX', key, 0)
  while first and tonumber(first) <= now - window do
    redis.call('LPOP', key)
    first = redis.call('LINDEX', key, 0)
  end
  local n = first and redis.call('LLEN', key) or 0
  local passed = n < max
  if passed then
    n = redis.call('RPUSH', key, string.format('%.0f', now))
    redis.call('PEXPIRE', key, window)
  end
  answer[3 * i - 2] = passed and 1 or 0
  answer[3 * i - 1] = math.max(0, max - n)
  answer[3 * i] = (first and tonumber(first) or now) + window - now
end
return answer`;

type Slide = (keys: number, ...keysAndArguments: (string | number)[]) => Promise<number[]>;

/** After a failure Redis is left alone this long, so that a hanging server does not delay every call. */
const PAUSE_MS = 1000;

export type RedisWindow = {
  /** False while Redis is away: nothing is asked of it then. */
  mayAnswer: () => boolean;
  /** Takes a point when one is free; what is asked for at the same moment goes in one script. Rejects without Redis. */
  take: (asked: { key: string; points: number; windowSeconds: number }) => Promise<Taken>;
  stop: () => void;
};

const connectRedis = (url: string, logger: Logger): Redis & { slide: Slide } => {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: 1000,
    commandTimeout: 500,
    socketTimeout: 2000,
    retryStrategy: (times) => Math.min(times * 50, 1000),
    scripts: { slide: { lua: SLIDING_WINDOW_LUA } },
  });
  let up = true;
  redis.on('error', (error) => {
    if (up) logger.error({ err: error }, 'redis away: limits are counted in this process');
    up = false;
  });
  redis.on('ready', () => {
    if (!up) logger.info('redis is back');
    up = true;
  });
  return redis as Redis & { slide: Slide };
};

export const createRedisWindow = (url: string, logger: Logger): RedisWindow => {
  const redis = connectRedis(url, logger);
  let pausedUntil = 0;
  const mayAnswer = () => redis.status === 'ready' && performance.now() >= pausedUntil;
  const take: RedisWindow['take'] = batched(async (asked) => {
    // Those that waited for an answer which did not come need not wait for another.
    if (!mayAnswer()) throw new Error('redis is away');
    try {
      const told = await redis.slide(
        asked.length,
        ...asked.map(({ key }) => `calls:${key}`),
        ...asked.flatMap(({ points, windowSeconds }) => [points, windowSeconds * 1000]),
      );
      return asked.map((_, i) => ({
        passed: told[3 * i] === 1,
        remaining: told[3 * i + 1]!,
        resetMs: told[3 * i + 2]!,
      }));
    } catch (error) {
      // Not connected is known at once; only a server that is there and does not answer costs time.
      if (redis.status === 'ready') pausedUntil = performance.now() + PAUSE_MS;
      throw error;
    }
  });
  return { mayAnswer, take, stop: () => redis.disconnect() };
};
