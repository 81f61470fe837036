import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { SpanKind } from '@opentelemetry/api';
import { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { ServiceError } from '../../shared/contract/errors.ts';
import { LONGEST_EMAIL } from '../../shared/contract/identity.sign-in.ts';
import type { HttpOperation, Limit } from '../../shared/contract/service.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import { inSpan } from '../../shared/lib/trace.ts';
import { addressGroup } from './address.ts';
import type { LimitOverrides } from './limits-file.ts';
import type { Quota, Taken } from './quota.ts';
import { createSlidingWindow } from './sliding-window.ts';

/**
 * Limits as true sliding windows. The library's own script is a fixed window and lets twice the points through around its
 * edge; this one keeps a list of the times of the calls, which takes less memory and time than a sorted set. A refused call
 * takes no point, and the wait it is told is when the oldest point comes free.
 */
const SLIDING_WINDOW_LUA = `
local pts=tonumber(ARGV[1]) local dur=tonumber(ARGV[2])*1000 local max=tonumber(ARGV[3])
local t=redis.call('TIME') local now=t[1]*1000+math.floor(t[2]/1000)
local first=redis.call('LINDEX',KEYS[1],0)
while first and tonumber(first)<=now-dur do
  redis.call('LPOP',KEYS[1]) first=redis.call('LINDEX',KEYS[1],0)
end
local n=first and redis.call('LLEN',KEYS[1]) or 0
if n+pts<=max then
  for i=1,pts do n=redis.call('RPUSH',KEYS[1],string.format('%.0f',now)) end
  redis.call('PEXPIRE',KEYS[1],dur)
  return {n,(first and tonumber(first) or now)+dur-now}
end
return {n+pts,first and (tonumber(first)+dur-now) or dur}`;

/** After a failure Redis is left alone this long, so that a hanging server does not delay every call. */
const REDIS_PAUSE_MS = 1000;
const REDIS_SPAN = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'redis' } };

/** A minute, per address: more than a misconfigured client needs to notice, and no load for identity. */
const REFUSED_KEYS = 60;

export type LimitedCall = {
  environment: string;
  /** `<service>.<operation>` */
  name: string;
  operation: Pick<HttpOperation, 'limits' | 'withoutRedis'>;
  accountId: string | undefined;
  /** By how much an operator has raised the limits of the account. */
  accountFactor: number;
  ip: string;
  /** The fields of the call as they came, not yet validated. */
  input: Record<string, unknown>;
};

export type Limits = {
  /** Counts a call in each of its windows. @throws ServiceError service_unavailable where it must not go uncounted. */
  count: (call: LimitedCall) => Promise<Quota[]>;
  /** Counts a key that was refused, for whom it came from. */
  countRefusedKey: (from: string) => Promise<Taken>;
  stop: () => void;
};

/** The client of the limits alone: the script is registered under one name per client, for all limiters on it. */
const connectRedis = (url: string, logger: Logger): Redis => {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: 1000,
    commandTimeout: 500,
    socketTimeout: 2000,
    retryStrategy: (times) => Math.min(times * 50, 1000),
    // What is counted in one turn of the event loop goes out in one write (docs/adr/0027).
    enableAutoPipelining: true,
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
  return redis;
};

/** Whose calls are counted together, or null where the call has no such thing: validation refuses it then. */
const subjectOf = (per: Limit['per'], call: LimitedCall): string | null => {
  if (per === 'account') return call.accountId ?? null;
  if (per === 'ip') return addressGroup(call.ip);
  const value = Object.hasOwn(call.input, per.field) ? call.input[per.field] : undefined;
  if (typeof value !== 'string') return null;
  // Hashed: the value may be a person's address, and of any length, as nothing has validated it yet.
  return createHash('sha256').update(oneSpelling(value)).digest('base64url');
};

/**
 * A mailbox is counted once however its domain is spelled, in its own letters or as xn--. Not so what is too long for one:
 * nothing has validated it yet, and 60 kB of combining marks take most of a second to be brought into their order.
 */
const oneSpelling = (value: string): string => {
  if (value.length > LONGEST_EMAIL) return value;
  const text = value.normalize('NFKC').trim().toLowerCase();
  const [, local, domain] = /^(.*)@([^@]{1,255})$/s.exec(text) ?? [];
  if (local === undefined || domain === undefined) return text;
  return `${local}@${domainToASCII(domain) || domain}`;
};

const takenOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes, passed: boolean): Taken => ({
  passed,
  remaining: remainingPoints,
  resetMs: msBeforeNext,
});

export const createLimits = ({
  redisUrl,
  overrides,
  logger,
}: {
  redisUrl: string;
  overrides: LimitOverrides;
  logger: Logger;
}): Limits => {
  const redis = connectRedis(redisUrl, logger);
  const inProcess = createSlidingWindow();
  const limiters = new Map<string, RateLimiterRedis>();
  let pausedUntil = 0;

  // One limiter per size of window. Every one carries the script: one without it would turn all of them back
  // into fixed windows.
  const limiterOf = (points: number, windowSeconds: number): RateLimiterRedis => {
    const id = `${points}/${windowSeconds}`;
    const limiter =
      limiters.get(id) ??
      new RateLimiterRedis({
        storeClient: redis,
        points,
        duration: windowSeconds,
        keyPrefix: 'calls',
        customIncrTtlLuaScript: SLIDING_WINDOW_LUA,
        rejectIfRedisNotReady: true,
      });
    limiters.set(id, limiter);
    return limiter;
  };

  const take = async (
    key: string,
    points: number,
    windowSeconds: number,
    { withoutRedis }: Pick<HttpOperation, 'withoutRedis'>,
  ): Promise<Taken> => {
    if (performance.now() >= pausedUntil) {
      try {
        const limiter = limiterOf(points, windowSeconds);
        return await inSpan('evalsha', REDIS_SPAN, async (span) => {
          const taken = await limiter.consume(key).then(
            (left) => takenOf(left, true),
            (reason: unknown) => {
              if (reason instanceof RateLimiterRes) return takenOf(reason, false);
              throw reason;
            },
          );
          span.setAttribute('quittance.limit.passed', taken.passed);
          return taken;
        });
      } catch {
        // Not connected is known at once; only a server that is there and does not answer costs time.
        if (redis.status === 'ready') pausedUntil = performance.now() + REDIS_PAUSE_MS;
      }
    }
    if (withoutRedis === 'in-process') return inProcess.take(key, points, windowSeconds);
    throw new ServiceError('service_unavailable', 'not available right now; try again shortly', {
      retryAfterSeconds: 5,
    });
  };

  const countEach = async (call: LimitedCall, limits: readonly [number, Limit][]): Promise<Quota[]> => {
    const quotas = await Promise.all(
      limits.map(async ([index, { points, windowSeconds, per, bucket }]) => {
        const subject = subjectOf(per, call);
        if (subject === null) return [];
        const raised = per === 'account' ? call.accountFactor : 1;
        const scaled = Math.floor(points * overrides.scale * raised);
        const counted = bucket ?? `${call.name}:${index}`;
        const key = `${call.environment}:${counted}:${subject}`;
        const taken = await take(key, scaled, windowSeconds, call.operation);
        return [{ per, points: scaled, windowSeconds, ...taken }];
      }),
    );
    return quotas.flat();
  };

  return {
    count: async (call) => {
      const limits = [...(overrides.operations[call.name] ?? call.operation.limits).entries()];
      const own = await countEach(
        call,
        limits.filter(([, { per }]) => typeof per === 'string'),
      );
      // Windows of what a caller names are somebody else's, or nobody's: who is refused by their own must neither use them
      // up nor fill Redis with names.
      if (own.some(({ passed }) => !passed)) return own;
      const named = limits.filter(([, { per }]) => typeof per !== 'string');
      return [...own, ...(await countEach(call, named))];
    },
    countRefusedKey: (from) =>
      take(`refused-key:${from}`, Math.floor(REFUSED_KEYS * overrides.scale), 60, {
        withoutRedis: 'in-process',
      }),
    stop: () => redis.disconnect(),
  };
};
