import type { gateway } from '../../../shared/contract/gateway.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import type { PublicKeys } from '../../../shared/lib/tokens/keys.ts';

/**
 * How long a retired key stays published, so that what it signed can still be verified. `?all=true`
 * publishes retired keys without a time limit.
 */
const PUBLISHED_AFTER_RETIREMENT_MS = 30 * 24 * 3600 * 1000;

/** GET /.well-known/jwks.json. */
export const jwks =
  ({
    publicKeys,
    clock,
  }: {
    publicKeys: PublicKeys;
    clock: Clock;
  }): Handler<typeof gateway.operations.jwks> =>
  async ({ environment, all }) => ({
    keys: [...publicKeys.values()]
      .filter((key) => environment === undefined || key.env === environment)
      .filter(
        ({ retiredAt }) =>
          all === 'true' || retiredAt === null || clock() < retiredAt + PUBLISHED_AFTER_RETIREMENT_MS,
      )
      .map(({ kid, x, env, retiredAt, compromisedAt }) => ({
        kty: 'OKP' as const,
        crv: 'Ed25519' as const,
        alg: 'EdDSA' as const,
        use: 'sig' as const,
        kid,
        x,
        env: env as Environment,
        ...(retiredAt !== null && { retired_at: isoTime(retiredAt) }),
        ...(compromisedAt !== null && { compromised_at: isoTime(compromisedAt) }),
      })),
  });
