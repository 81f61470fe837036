import { Redis } from 'ioredis';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { tlsOf } from '../../../shared/lib/transport.ts';

export type { Redis };

/**
 * Connects to Redis in the background. A command without a connection fails at once, because
 * nothing in Redis is worth the wait of a call: limits are then counted in the process, and the
 * request log has a gap.
 * @param caFile the authority of a `rediss://` server
 */
export const connectRedis = (url: string, logger: Logger, caFile?: string): Redis => {
  const tls = tlsOf('REDIS_URL', url, caFile);
  const redis = new Redis(url, {
    ...(tls && { tls }),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: 1000,
    commandTimeout: 500,
    socketTimeout: 2000,
    retryStrategy: (times) => Math.min(times * 50, 1000),
    // Commands of one turn of the event loop are sent in one write.
    enableAutoPipelining: true,
  });
  // A connection whose certificate is refused may fail a second time, by an alert of the server.
  // The listener of ioredis is gone by then, and an error without one would end the process.
  redis.on('connecting', () => setImmediate(() => redis.stream?.on('error', () => {})));
  let up = true;
  redis.on('error', (error) => {
    if (up) logger.error({ err: error }, 'redis unavailable, counting limits in this process');
    up = false;
  });
  redis.on('ready', () => {
    if (!up) logger.info('redis available again');
    up = true;
  });
  return redis;
};
