import type { gateway } from '../../../shared/contract/gateway.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { OwnDeps } from '../deps.ts';

/** What a key signed can be verified this long after its last signature; `?all=true` publishes it for ever. */
const PUBLISHED_AFTER_RETIREMENT_MS = 30 * 24 * 3600 * 1000;

/** GET /.well-known/jwks.json. */
export const jwks =
  ({ publicKeys, clock }: OwnDeps): Handler<typeof gateway.operations.jwks> =>
  async ({ environment, all }) => ({
    keys: [...publicKeys.values()]
      .filter((key) => environment === undefined || key.env === environment)
      .filter(
        ({ retiredAt }) =>
          all === 'true' || retiredAt === null || clock() < retiredAt + PUBLISHED_AFTER_RETIREMENT_MS,
      )
      .map(({ kid, x, env }) => ({
        kty: 'OKP' as const,
        crv: 'Ed25519' as const,
        alg: 'EdDSA' as const,
        use: 'sig' as const,
        kid,
        x,
        env: env as Environment,
      })),
  });
