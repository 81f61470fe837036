import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { SpanKind } from '@opentelemetry/api';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { HttpOperation, Limit } from '../../shared/contract/service.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import { inSpan } from '../../shared/lib/trace.ts';
import { addressGroup } from './address.ts';
import type { LimitOverrides } from './limits-file.ts';
import type { Quota, Taken } from './quota.ts';
import { createRedisWindow } from './redis-window.ts';
import { createSlidingWindow } from './sliding-window.ts';

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

/** Whose calls are counted together, or null where the call has no such thing: validation refuses it then. */
const subjectOf = (per: Limit['per'], call: LimitedCall): string | null => {
  if (per === 'account') return call.accountId ?? null;
  if (per === 'ip') return addressGroup(call.ip);
  const value = Object.hasOwn(call.input, per.field) ? call.input[per.field] : undefined;
  if (typeof value !== 'string') return null;
  // Hashed: the value may be a person's address, and of any length, as nothing has validated it yet.
  return createHash('sha256').update(oneSpelling(value)).digest('base64url');
};

/** A mailbox is counted once however its domain is spelled, in its own letters or as xn--. */
const oneSpelling = (value: string): string => {
  const text = value.normalize('NFKC').trim().toLowerCase();
  const [, local, domain] = /^(.*)@([^@]{1,255})$/s.exec(text) ?? [];
  if (local === undefined || domain === undefined) return text;
  return `${local}@${domainToASCII(domain) || domain}`;
};

export const createLimits = ({
  redisUrl,
  overrides,
  logger,
}: {
  redisUrl: string;
  overrides: LimitOverrides;
  logger: Logger;
}): Limits => {
  const redis = createRedisWindow(redisUrl, logger);
  const inProcess = createSlidingWindow();

  const take = async (
    key: string,
    points: number,
    windowSeconds: number,
    { withoutRedis }: Pick<HttpOperation, 'withoutRedis'>,
  ): Promise<Taken> => {
    if (redis.mayAnswer()) {
      try {
        return await inSpan('evalsha', REDIS_SPAN, async (span) => {
          const taken = await redis.take({ key, points, windowSeconds });
          span.setAttribute('quittance.limit.passed', taken.passed);
          return taken;
        });
      } catch {
        // Counted here, or refused.
      }
    }
    if (withoutRedis === 'in-process') return inProcess.take(key, points, windowSeconds);
    throw new ServiceError('service_unavailable', 'not available right now; try again shortly', {
      retryAfterSeconds: 5,
    });
  };

  return {
    count: async (call) => {
      const limits: readonly Limit[] = overrides.operations[call.name] ?? call.operation.limits;
      const quotas = await Promise.all(
        limits.map(async ({ points, windowSeconds, per, bucket }, index) => {
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
    },
    countRefusedKey: (from) =>
      take(`refused-key:${from}`, Math.floor(REFUSED_KEYS * overrides.scale), 60, {
        withoutRedis: 'in-process',
      }),
    stop: redis.stop,
  };
};
