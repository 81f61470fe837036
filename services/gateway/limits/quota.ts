import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Limit } from '../../../shared/contract/service.ts';

/** The state of one window after a call. */
export type WindowState = {
  /** False when no point was free. Such a call consumes none. */
  passed: boolean;
  remaining: number;
  /** Milliseconds until the oldest point becomes free. */
  resetMs: number;
};

export type Quota = WindowState & Pick<Limit, 'points' | 'windowSeconds' | 'per'>;

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

const NAMES = { account: 'account', ip: 'address' } as const;
const nameOf = (per: Quota['per']): string => (typeof per === 'string' ? NAMES[per] : per.field);

/**
 * Whether the caller may see a quota. The window of a field, for instance a mail address, is shared
 * by everybody who has the value. Its remaining points would show a stranger that the owner is
 * signing in, so it is reported only when it refuses.
 */
const isShown = ({ per, passed }: Quota): boolean => typeof per === 'string' || !passed;

/**
 * `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10, as structured
 * field lists.
 */
export const rateLimitHeaders = (quotas: readonly Quota[]): Record<string, string> => {
  const shown = quotas.filter(isShown);
  if (shown.length === 0) return {};
  const list = (parameters: (quota: Quota) => string) =>
    shown.map((quota) => `"${nameOf(quota.per)}";${parameters(quota)}`).join(', ');
  return {
    'ratelimit-policy': list(({ points, windowSeconds }) => `q=${points};w=${windowSeconds}`),
    ratelimit: list(({ remaining, resetMs }) => `r=${remaining};t=${seconds(resetMs)}`),
  };
};

/**
 * Reports the quotas to the caller, whatever the answer is, and refuses the call where a window is
 * used up.
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
