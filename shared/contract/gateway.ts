import { z } from 'zod';
import { Environment, SolanaAddress, Timestamp } from './primitives.ts';
import { operation, service } from './service.ts';

/**
 * Asked often, so limited generously. What the gateway answers by itself is limited in its process
 * alone.
 */
const health = { access: [], limits: [{ points: 1200, windowSeconds: 60, per: 'ip' }], errors: [] } as const;

const Key = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
  kid: z.string().meta({ examples: ['test.quote.1'] }),
  x: z.string(),
  env: Environment,
});

/** What the gateway answers by itself. */
export const gateway = service({
  name: 'gateway',
  operations: {
    health: operation({
      summary: 'Alive: the event loop turns',
      http: { method: 'GET', path: '/v1/health', status: 200 },
      ...health,
      output: z.strictObject({ status: z.literal('ok'), time: Timestamp }),
    }),
    ready: operation({
      summary: 'Ready to take calls',
      description:
        '503 while starting or draining. The body shows each environment; a sick one does not take the others down.',
      http: { method: 'GET', path: '/v1/health/ready', status: 200 },
      ...health,
      output: z.strictObject({
        status: z.literal('ready'),
        environments: z.record(z.string(), z.record(z.string(), z.enum(['up', 'down']))),
      }),
    }),
    environments: operation({
      summary: 'The environments that are served here, each with its mint of USDC',
      description:
        'From the configuration alone. Whoever signs compares a transaction with this mint, never with what another ' +
        'answer says.',
      http: { method: 'GET', path: '/v1/environments', status: 200 },
      ...health,
      output: z.strictObject({
        environments: z.record(z.string(), z.strictObject({ usdc_mint: SolanaAddress })),
      }),
    }),
    jwks: operation({
      summary: 'Public signing keys',
      description:
        'A key counts only for the environment and use in its kid: <env>.<quote|settlement|session>.<n>.',
      http: { method: 'GET', path: '/.well-known/jwks.json', status: 200 },
      access: [],
      query: z.strictObject({
        environment: Environment.optional(),
        all: z.enum(['true', 'false']).optional(),
      }),
      output: z.strictObject({ keys: z.array(Key) }),
      errors: [],
    }),
  },
  internal: {},
  events: {},
  jobs: {},
  consumes: [],
  subscribesLive: ['identity.keysRevoked', 'identity.sessionRevoked'],
});
