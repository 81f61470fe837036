import { z } from 'zod';
import { ERRORS, type ErrorCode } from './errors.ts';
import {
  DelegateId,
  Environment,
  page,
  pageQuery,
  ServiceId,
  SolanaAddress,
  Timestamp,
} from './primitives.ts';
import { operation, service } from './service.ts';

/**
 * The limit is high because health is requested often. The gateway counts these calls per process.
 */
const health = { access: [], limits: [{ points: 1200, windowSeconds: 60, per: 'ip' }], errors: [] } as const;

const Key = z
  .strictObject({
    kty: z.literal('OKP').describe('Key type (RFC 8037)'),
    crv: z.literal('Ed25519').describe('Curve'),
    alg: z.literal('EdDSA').describe('Algorithm of the signatures'),
    use: z.literal('sig').describe('The key verifies signatures'),
    kid: z.string().meta({
      description: 'Id of the key: environment, use and number. A token names it',
      examples: ['test.quote.1'],
    }),
    x: z.string().meta({
      description: 'The public key, base64url',
      examples: ['JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs'],
    }),
    env: Environment.describe('The environment whose tokens it verifies'),
    retired_at: Timestamp.optional().describe(
      'Since when it signs nothing. A token of a later time is forged',
    ),
    compromised_at: Timestamp.optional().describe(
      'Since when others may have the private key. Nothing that it signed proves anything any more',
    ),
  })
  .meta({ id: 'SigningKey' });

/** A call as its account sees it. It has no body, no header and no address of the caller. */
export const ApiRequest = z
  .strictObject({
    request_id: z
      .string()
      .meta({ description: 'Id of the call, as in its header `x-request-id`', examples: ['req-7f3a'] }),
    created_at: Timestamp.describe('When it was answered'),
    method: z.enum(['GET', 'POST', 'PATCH', 'DELETE']).describe('HTTP method'),
    path: z.string().meta({
      description: 'Path of the operation, with the names of its parameters',
      examples: ['/v1/settlements/:settlement_id/redeem'],
    }),
    operation: z.string().meta({ description: 'The operation', examples: ['settlement.redeem'] }),
    status: z.int().meta({ description: 'HTTP status of the answer', examples: [409] }),
    code: z
      .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
      .nullable()
      .describe('The error code. Null: no error. There may be further ones'),
    message: z
      .string()
      .nullable()
      .meta({
        description: 'The message of the error, with words above 40 characters cut',
        examples: ['the settlement is redeemed with another redeem_id'],
      }),
    duration_ms: z.int().meta({ description: 'How long the gateway needed', examples: [12] }),
    credential: z.enum(['service_key', 'delegate_key', 'jwt']).describe('Kind of the credential'),
    service_id: ServiceId.nullable().describe('The service whose key called'),
    delegate_id: DelegateId.nullable().describe('The delegate whose key called'),
    ids: z
      .record(z.string(), z.string())
      .describe('Ids of objects in the call and its answer, by the name of the field'),
  })
  .meta({ id: 'ApiRequest', description: 'A call of the account to this API' });

/** The operations that the gateway itself answers. */
export const gateway = service({
  name: 'gateway',
  operations: {
    health: operation({
      summary: 'Liveness: the process answers',
      journey: 'probe',
      http: { method: 'GET', path: '/v1/health', status: 200 },
      ...health,
      output: z
        .strictObject({
          status: z.literal('ok').describe('Always ok: a process that is not alive does not answer'),
          time: Timestamp.describe('The time of the server'),
          version: z
            .string()
            .meta({ description: 'The version of the API that answers', examples: ['1.0.0'] }),
          commit: z.string().meta({
            description: 'What it was built from: a commit, or `unknown`',
            examples: ['6f1c2a9'],
          }),
        })
        .meta({ id: 'Health' }),
    }),
    ready: operation({
      summary: 'Readiness: the process accepts calls',
      description:
        '503 while the process starts or drains. The body shows the state of each environment. An environment that is down does not affect the others.',
      journey: 'probe',
      http: { method: 'GET', path: '/v1/health/ready', status: 200 },
      ...health,
      output: z
        .strictObject({
          status: z.literal('ready').describe('Always ready: otherwise the answer is 503'),
          environments: z
            .record(z.string(), z.record(z.string(), z.enum(['up', 'down'])))
            .describe('The state of each part, by environment and part'),
        })
        .meta({ id: 'Readiness' }),
    }),
    environments: operation({
      summary: 'List the environments that are served here, each with its USDC mint and its network',
      description:
        'From the configuration only. A signer compares the mint of a transaction with this mint, never with one ' +
        'from another answer.',
      journey: 'read',
      http: { method: 'GET', path: '/v1/environments', status: 200 },
      isDocument: true,
      ...health,
      output: z
        .strictObject({
          environments: z
            .record(
              z.string(),
              z.strictObject({
                usdc_mint: SolanaAddress.describe('The mint of USDC on the network of this environment'),
                x402_network: z
                  .string()
                  .nullable()
                  .meta({
                    description: 'CAIP-2 id of the chain, as x402 names it. Null: not configured',
                    examples: ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
                  }),
              }),
            )
            .describe('By the name of the environment'),
          caught_mail_url: z
            .url()
            .nullable()
            .meta({
              description:
                'The page that shows all mails, where none is delivered. Null: mails are delivered',
              examples: ['http://127.0.0.1:8025'],
            }),
        })
        .meta({ id: 'Environments' }),
    }),
    requests: operation({
      summary: 'List the newest API calls of the account',
      description:
        'The calls of all keys and sign-ins of the account, and the refused ones apart: the newest 100 of each, for ' +
        '7 days, of the 1,000 accounts that called last. It is a help for developers and no record: a call may be ' +
        'missing. Calls of pages of the console are left out, and so are calls whose credential was refused, because ' +
        'they belong to nobody.',
      journey: 'read',
      http: { method: 'GET', path: '/v1/requests', status: 200 },
      access: ['jwt'],
      query: z.strictObject({
        ...pageQuery,
        refused: z
          .enum(['true', 'false'])
          .optional()
          .describe('true: only calls that were answered with an error'),
      }),
      output: page(ApiRequest),
      errors: [],
    }),
    jwks: operation({
      summary: 'List the public signing keys',
      description:
        'A key is valid only for the environment and the use in its kid: <env>.<quote|settlement|session>.<n>.',
      journey: 'read',
      http: { method: 'GET', path: '/.well-known/jwks.json', status: 200 },
      isDocument: true,
      access: [],
      query: z.strictObject({
        environment: Environment.optional().describe('Only the keys of this environment'),
        all: z
          .enum(['true', 'false'])
          .optional()
          .describe('true: also keys that no longer sign, which verify old receipts'),
      }),
      output: z
        .strictObject({ keys: z.array(Key).describe('The public keys (RFC 7517)') })
        .meta({ id: 'SigningKeys' }),
      errors: [],
    }),
  },
  internal: {},
  events: {},
  jobs: {},
  consumes: [],
  subscribesLive: ['identity.keysRevoked', 'identity.sessionRevoked'],
});
