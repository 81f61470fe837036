import { ServiceError } from '../../../shared/contract/errors.ts';
import type { HttpOperation, Limit } from '../../../shared/contract/service.ts';
import { createInMemoryWindow } from './in-memory-window.ts';
import type { LimitOverrides } from './limits-file.ts';
import type { Quota, WindowState } from './quota.ts';
import { createRedisWindow, type RedisWindowDeps } from './redis-window.ts';
import { type CallSubjects, subjectOf } from './subject.ts';

/**
 * A minute, per address. A misconfigured client is noticed with fewer attempts, and identity can
 * answer this number easily.
 */
const REFUSED_KEYS = 60;

/**
 * How long a call that must not go uncounted waits for Redis. A restart of Redis takes less, and a
 * person who signs in notices a refusal more than a pause.
 */
const REDIS_BACK_WITHIN_MS = 1500;

type LimitedCall = CallSubjects & {
  environment: string;
  /** `<service>.<operation>` */
  name: string;
  operation: Pick<HttpOperation, 'limits' | 'withoutRedis' | 'refusalsApart'>;
  /** The factor by which an operator has raised the limits of the account. */
  accountFactor: number;
  /**
   * Finds the nonce of a browser that is known to the person whom the call's fields name. It has
   * windows of its own, so that a stranger does not use them up.
   */
  knownBrowserOf?: () => Promise<string | undefined>;
};

export type Limits = {
  /**
   * Counts a call in each of its windows.
   * @throws ServiceError service_unavailable where the call must not go uncounted
   */
  count: (call: LimitedCall) => Promise<Quota[]>;
  /**
   * Counts a call that was counted and then refused for its content in the window of refusals
   * instead, while that has a free point. Without one, or without Redis, it stays where it is.
   */
  countApart: (call: LimitedCall) => Promise<void>;
  /** Counts a refused key for the subject that sent it. */
  countRefusedKey: (subject: string) => Promise<WindowState>;
  /** The points of a limit that is counted elsewhere, as this deployment has it. */
  scaled: (points: number) => number;
};

/** The limits of calls, as this deployment has them. */
const createWindows = (overrides: LimitOverrides) => ({
  limitsOf: ({ name, operation }: LimitedCall): [number, Limit][] => [
    ...(overrides.operations[name] ?? operation.limits).entries(),
  ],
  /** The window of one limit for a call; null where the call has none. */
  windowOf: (call: LimitedCall, [index, { points, per, bucket }]: [number, Limit]) => {
    const subject = subjectOf(per, call);
    if (subject === null) return null;
    const factor = per === 'account' ? call.accountFactor : 1;
    return {
      points: Math.floor(points * overrides.scale * factor),
      key: `${call.environment}:${bucket ?? `${call.name}:${index}`}:${subject}`,
    };
  },
});

const createCountApart = (
  overrides: LimitOverrides,
  redisWindow: ReturnType<typeof createRedisWindow>,
): Limits['countApart'] => {
  const { limitsOf, windowOf } = createWindows(overrides);
  return async (call) => {
    const { operation, accountId, accountFactor } = call;
    if (operation.refusalsApart === undefined || accountId === undefined) return;
    const { points, windowSeconds } = operation.refusalsApart;
    const key = `${call.environment}:${call.name}:refusals:${accountId}`;
    const scaled = Math.floor(points * overrides.scale * accountFactor);
    const state = await redisWindow.consume(key, scaled, windowSeconds);
    if (state?.passed !== true) return;
    const own = limitsOf(call).filter(([, { per }]) => per === 'account');
    await Promise.all(
      own.map(async (limit) => {
        const window = windowOf(call, limit);
        if (window !== null) await redisWindow.release(window.key);
      }),
    );
  };
};

/**
 * The limits of all operations, counted in Redis. While Redis is unavailable, some count in memory.
 */
export const createLimits = ({
  overrides,
  ...windows
}: { overrides: LimitOverrides } & RedisWindowDeps): Limits => {
  const redisWindow = createRedisWindow(windows);
  const fallback = createInMemoryWindow();
  const scaled = (points: number): number => Math.floor(points * overrides.scale);

  const consume = async (
    key: string,
    points: number,
    windowSeconds: number,
    { withoutRedis }: Pick<HttpOperation, 'withoutRedis'>,
  ): Promise<WindowState> => {
    const state = await redisWindow.consume(key, points, windowSeconds);
    if (state !== null) return state;
    if (withoutRedis === 'in-process') return fallback.consume(key, points, windowSeconds);
    if (await redisWindow.isBackWithin(REDIS_BACK_WITHIN_MS)) {
      const later = await redisWindow.consume(key, points, windowSeconds);
      if (later !== null) return later;
    }
    throw new ServiceError(
      'service_unavailable',
      'the rate limit cannot be checked right now; try again in a few seconds',
      {
        retryAfterSeconds: 5,
      },
    );
  };

  const { limitsOf, windowOf } = createWindows(overrides);

  const countEach = async (call: LimitedCall, limits: readonly [number, Limit][]): Promise<Quota[]> => {
    const quotas = await Promise.all(
      limits.map(async (limit) => {
        const window = windowOf(call, limit);
        if (window === null) return [];
        const [, { per, windowSeconds }] = limit;
        const { key, points } = window;
        return [
          { per, points, windowSeconds, ...(await consume(key, points, windowSeconds, call.operation)) },
        ];
      }),
    );
    return quotas.flat();
  };

  return {
    count: async (call) => {
      const limits = limitsOf(call);
      const own = await countEach(
        call,
        limits.filter(([, { per }]) => typeof per === 'string'),
      );
      // The window of a value that the caller sends may belong to another person. A caller whose
      // own windows refuse it must not use that window up, nor fill Redis with values.
      if (own.some(({ passed }) => !passed)) return own;
      const named = limits.filter(([, { per }]) => typeof per !== 'string');
      if (named.length === 0) return own;
      const knownBrowser = await call.knownBrowserOf?.();
      return [...own, ...(await countEach({ ...call, knownBrowser }, named))];
    },
    countApart: createCountApart(overrides, redisWindow),
    countRefusedKey: (subject) =>
      consume(`refused-key:${subject}`, scaled(REFUSED_KEYS), 60, { withoutRedis: 'in-process' }),
    scaled,
  };
};
