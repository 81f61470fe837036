import type { PaywallStore } from '@quittance/sdk/vendor';
import { Redis } from 'ioredis';

// '' stands for a missing value, because no value of the paywall is empty.
const COMPARE_AND_SET = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`;

const TAKE = `
if #KEYS > 1 and redis.call('EXISTS', unpack(KEYS, 2)) > 0 then return 'held' end
local number = tonumber(redis.call('GET', KEYS[1]) or '-1')
if number < 0 or number < tonumber(ARGV[1]) then return 'empty' end
redis.call('DECRBY', KEYS[1], ARGV[1])
for i = 2, #KEYS do redis.call('SET', KEYS[i], ARGV[2 * i - 2], 'PX', ARGV[2 * i - 1]) end
return redis.call('GET', KEYS[1])`;

type Commands = {
  compareAndSetValue: (key: string, expected: string, next: string, ttlMs: number) => Promise<number>;
  takeWith: (keys: number, ...keysAndValues: (string | number)[]) => Promise<string>;
};

/**
 * The shared state of replicas, in Redis. Redis should write its log to disk (AOF), because a buyer
 * cannot request lost data again.
 */
export const redisStore = (url: string): PaywallStore & { close: () => void } => {
  const redis = new Redis(url, {
    keyPrefix: 'paywall:',
    // At the first command, because a build evaluates this module without a Redis.
    lazyConnect: true,
    maxRetriesPerRequest: 1,
    enableAutoPipelining: true,
  });
  redis.on('error', ({ message }) => console.error(`redis: ${message}`));
  redis.defineCommand('compareAndSetValue', { numberOfKeys: 1, lua: COMPARE_AND_SET });
  redis.defineCommand('takeWith', { lua: TAKE });
  const commands = redis as unknown as Commands;
  return {
    get: (key) => redis.get(key),
    compareAndSet: async (key, expected, next, ttlMs) =>
      (await commands.compareAndSetValue(key, expected ?? '', next ?? '', Math.ceil(ttlMs))) === 1,
    take: async (counter, amount, entries) => {
      const left = await commands.takeWith(
        entries.length + 1,
        counter,
        ...entries.map(({ key }) => key),
        String(amount),
        ...entries.flatMap(({ value, ttlMs }) => [value, Math.ceil(ttlMs)]),
      );
      return left === 'held' || left === 'empty' ? left : BigInt(left);
    },
    close: () => redis.disconnect(),
  };
};
