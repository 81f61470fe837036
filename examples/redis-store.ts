import type { PaywallStore } from '@quittance/sdk/vendor';
import { Redis } from 'ioredis';

// '' stands for a missing value, because no value of the paywall is empty.
const COMPARE_AND_SET = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`;

/**
 * The shared state of replicas, in Redis. Redis should write its log to disk (AOF), because a buyer
 * cannot request lost data again.
 */
export const redisStore = (url: string): PaywallStore & { close: () => void } => {
  const redis = new Redis(url, { keyPrefix: 'paywall:', maxRetriesPerRequest: 1 });
  redis.on('error', ({ message }) => console.error(`redis: ${message}`));
  return {
    get: (key) => redis.get(key),
    compareAndSet: async (key, expected, next, ttlMs) =>
      (await redis.eval(COMPARE_AND_SET, 1, key, expected ?? '', next ?? '', Math.ceil(ttlMs))) === 1,
    close: () => redis.disconnect(),
  };
};
