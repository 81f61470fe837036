import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { Limit } from '../../shared/contract/service.ts';

/** Where one window stands after a call. */
export type Taken = {
  /** False when no point was free: the call took none. */
  passed: boolean;
  remaining: number;
  /** Milliseconds until the oldest point comes free. */
  resetMs: number;
};

export type Quota = Taken & Pick<Limit, 'points' | 'windowSeconds' | 'per'>;

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

const NAMES = { account: 'account', ip: 'address' } as const;
const nameOf = (per: Quota['per']): string => (typeof per === 'string' ? NAMES[per] : per.field);

/**
 * What a caller may know of its quotas. The window of a field (a mail address) is everybody's who knows the value:
 * what remains of it would tell a stranger that its owner signs in just now, so it is named only when it refuses.
 */
const shown = ({ per, passed }: Quota): boolean => typeof per === 'string' || !passed;

/** `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10, as structured field lists. */
export const rateLimitHeaders = (quotas: readonly Quota[]): Record<string, string> => {
  const told = quotas.filter(shown);
  if (told.length === 0) return {};
  const list = (parameters: (quota: Quota) => string) =>
    told.map((quota) => `"${nameOf(quota.per)}";${parameters(quota)}`).join(', ');
  return {
    'ratelimit-policy': list(({ points, windowSeconds }) => `q=${points};w=${windowSeconds}`),
    ratelimit: list(({ remaining, resetMs }) => `r=${remaining};t=${seconds(resetMs)}`),
  };
};

/**
 * Tells the caller where it stands, whatever the answer becomes, and refuses it where a window is used up.
 * @throws ServiceError rate_limited, with the time until every window has a free point
 */
export const admit = (reply: FastifyReply, quotas: readonly Quota[]): void => {
  void reply.headers(rateLimitHeaders(quotas));
  const waits = quotas.filter(({ passed }) => !passed).map(({ resetMs }) => resetMs);
  if (waits.length === 0) return;
  throw new ServiceError('rate_limited', 'too many requests; see the Retry-After header', {
    retryAfterSeconds: seconds(Math.max(...waits)),
  });
};
