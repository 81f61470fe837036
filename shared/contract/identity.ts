import { z } from 'zod';
import { delegateOperations } from './identity.delegates.ts';
import { Service, serviceOperations } from './identity.services.ts';
import { AccountId, Environment, ServiceId } from './primitives.ts';
import { Principal } from './principal.ts';
import { internalOperation, type Limit, operation, service } from './service.ts';

/** Shape only; the service normalises and checks the rest (IDN look-alikes, CR and LF). RFC 5321 bounds a path to 254. */
const Email = z
  .string()
  .min(3)
  .max(254)
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+\.[^\s@\p{Cc}]+$/u, 'must be an e-mail address')
  .meta({ id: 'Email', examples: ['ada@example.com'] });

const mailed = {
  body: z.strictObject({
    email: Email,
    environment: Environment.optional().meta({ description: 'Default test' }),
  }),
  output: z.strictObject({ status: z.literal('sent') }),
  environment: { field: 'environment' },
  limits: [
    { points: 5, windowSeconds: 900, per: { field: 'email' }, bucket: 'mail-to-address' },
    { points: 30, windowSeconds: 600, per: 'ip', bucket: 'mail-from-ip' },
  ] satisfies Limit[],
  withoutRedis: 'refuse',
} as const;

const token = (prefix: string) =>
  z
    .string()
    .max(256)
    .regex(
      new RegExp(`^${prefix}_(test|live)_[A-Za-z0-9_-]+$`),
      `must be a token that begins with ${prefix}_test_ or ${prefix}_live_`,
    );

export const Session = z
  .strictObject({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().min(1).max(86400).meta({ description: 'Seconds' }),
    refresh_token: z.string(),
    account: z.strictObject({ account_id: AccountId, email: z.string() }),
  })
  .meta({ id: 'Session' });

export const identity = service({
  name: 'identity',
  operations: {
    createAccount: operation({
      summary: 'Create an account: mails a sign-in link',
      description:
        'Writes nothing until the link is used. The answer is the same for known and unknown addresses.',
      http: { method: 'POST', path: '/v1/accounts', status: 202 },
      access: [],
      ...mailed,
      errors: [],
    }),
    requestMagicLink: operation({
      summary: 'Mail a sign-in link',
      http: { method: 'POST', path: '/v1/auth/magic-link', status: 202 },
      access: [],
      ...mailed,
      errors: [],
    }),
    verifyMagicLink: operation({
      summary: 'Use a sign-in link',
      description: 'Single use, newest link only, 15 minutes. The first sign-in creates the account.',
      http: { method: 'POST', path: '/v1/auth/magic-link/verify', status: 200 },
      access: [],
      environment: { prefixOf: 'token' },
      body: z.strictObject({ token: token('ml') }),
      output: Session,
      errors: ['unauthorized'],
    }),
    refresh: operation({
      summary: 'Exchange a refresh token for a new pair',
      description: 'Rotated at every use; reuse of an old one ends the whole sign-in.',
      http: { method: 'POST', path: '/v1/auth/refresh', status: 200 },
      access: [],
      environment: { prefixOf: 'refresh_token' },
      body: z.strictObject({ refresh_token: token('rt') }),
      output: Session,
      errors: ['unauthorized'],
    }),
    logout: operation({
      summary: 'End this sign-in at once',
      http: { method: 'POST', path: '/v1/auth/logout', status: 204 },
      access: ['jwt'],
      body: z.strictObject({ refresh_token: token('rt').optional() }),
      bodyOptional: true,
      output: z.null(),
      errors: [],
    }),
    ...serviceOperations,
    ...delegateOperations,
  },
  internal: {
    findKey: internalOperation({
      summary:
        'The principal behind a service or delegate key, by the SHA-256 of its text. Null when unknown or ended.',
      callers: ['gateway'],
      input: z.strictObject({ key_hash: z.string().regex(/^[A-Za-z0-9_-]{43}$/) }),
      output: Principal.nullable(),
    }),
    findSession: internalOperation({
      summary: 'Whether a sign-in is still open',
      callers: ['gateway'],
      input: z.strictObject({ session_id: z.string().max(64), account_id: AccountId }),
      output: z.strictObject({ open: z.boolean() }),
    }),
    findService: internalOperation({
      summary: 'What a quote needs of a service. Null when there is none.',
      callers: ['quote'],
      input: z.strictObject({ service_id: ServiceId }),
      output: z.strictObject({ ...Service.shape, account_id: AccountId }).nullable(),
    }),
  },
  events: {
    /** Keys that are refused from now on, by the hash of their text: caches forget them. */
    keysEnded: z.strictObject({ key_hashes: z.array(z.string()) }),
  },
  jobs: {},
  consumes: [],
});
