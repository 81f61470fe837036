import type { PaymentStore } from '@quittance/sdk/pay';
import { Redis } from 'ioredis';

// A hash has no order, so each record has a number. A record that is saved again keeps its own.
const SAVE = `
local stored = redis.call('HGET', KEYS[1], ARGV[1])
local number = stored and string.match(stored, '^%d+') or redis.call('INCR', KEYS[2])
redis.call('HSET', KEYS[1], ARGV[1], number .. ':' .. ARGV[2])`;

const numberOf = (stored: string): number => Number.parseInt(stored, 10);

/**
 * The payments of a buyer until their delivery, in Redis. Redis must write its log to disk before
 * it answers (`appendfsync always`), because a lost record can be paid again. The records give
 * access to deliveries: protect them like the delegate key.
 * @param payer names the delegate key, for instance its delegate id: one store for each key
 */
export const redisPayments = (url: string, payer: string): PaymentStore & { close: () => void } => {
  const redis = new Redis(url, { keyPrefix: `payments:${payer}:`, maxRetriesPerRequest: 1 });
  redis.on('error', ({ message }) => console.error(`redis: ${message}`));
  return {
    load: async (name) => {
      const stored = await redis.hvals(`name:${name}`);
      const inOrder = stored.sort((one, other) => numberOf(one) - numberOf(other));
      return inOrder.map((each) => JSON.parse(each.slice(each.indexOf(':') + 1)));
    },
    save: async (name, record) => {
      await redis.eval(SAVE, 2, `name:${name}`, 'sequence', record.id, JSON.stringify(record));
    },
    remove: async (name, id) => {
      await redis.hdel(`name:${name}`, id);
    },
    close: () => redis.disconnect(),
  };
};
