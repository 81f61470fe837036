import { z } from 'zod';
import { Environment, SolanaAddress, Timestamp } from './primitives.ts';
import { operation, service } from './service.ts';

/**
 * The limit is high because health is requested often. The gateway counts these calls per process.
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

/** The operations that the gateway itself answers. */
export const gateway = service({
  name: 'gateway',
  operations: {
    health: operation({
      summary: 'Liveness: the process answers',
      http: { method: 'GET', path: '/v1/health', status: 200 },
      ...health,
      output: z.strictObject({ status: z.literal('ok'), time: Timestamp }),
    }),
    ready: operation({
      summary: 'Readiness: the process accepts calls',
      description:
        '503 while the process starts or drains. The body shows the state of each environment. An environment that is down does not affect the others.',
      http: { method: 'GET', path: '/v1/health/ready', status: 200 },
      ...health,
      output: z.strictObject({
        status: z.literal('ready'),
        environments: z.record(z.string(), z.record(z.string(), z.enum(['up', 'down']))),
      }),
    }),
    environments: operation({
      summary: 'List the environments that are served here, each with its USDC mint and its network',
      description:
        'From the configuration only. A signer compares the mint of a transaction with this mint, never with one ' +
        'from another answer.',
      http: { method: 'GET', path: '/v1/environments', status: 200 },
      ...health,
      output: z.strictObject({
        environments: z.record(
          z.string(),
          z.strictObject({
            usdc_mint: SolanaAddress,
            x402_network: z
              .string()
              .nullable()
              .meta({
                description: 'CAIP-2 id of the chain, as x402 names it. Null: not configured',
                examples: ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
              }),
          }),
        ),
      }),
    }),
    jwks: operation({
      summary: 'List the public signing keys',
      description:
        'A key is valid only for the environment and the use in its kid: <env>.<quote|settlement|session>.<n>.',
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
