import { z } from 'zod';
import { Passkey } from './identity.account.ts';
import { AccountId, Environment, label } from './primitives.ts';
import { type Limit, operation } from './service.ts';

/** The part of identity's contract by which a person becomes a sign-in. */

/** Characters of a mail address: RFC 5321 bounds a path to 254. */
export const LONGEST_EMAIL = 254;

/**
 * Shape only; the service normalises and checks the rest (IDN look-alikes, CR and LF). abort: the
 * pattern must not see a longer text, or one of dots stops the process for seconds.
 */
const Email = z
  .string()
  .min(3)
  .max(LONGEST_EMAIL, { abort: true })
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+\.[^\s@\p{Cc}]+$/u, 'must be an e-mail address')
  .meta({ id: 'Email', examples: ['ada@example.com'] });

/** How long a sign-in link works (docs/spec/decisions.md, Sign-in). */
export const LINK_MINUTES = 15;

/** 256 random bits as base64url. */
export const BrowserNonce = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes as base64url');
const browser_nonce = BrowserNonce.optional().meta({
  description:
    'Which browser asks. For pages of our own origins the API keeps it in a cookie that no script reads; ' +
    'other clients leave it out.',
  examples: ['n'.repeat(43)],
});

const environment = Environment.optional().meta({ description: 'Default test' });
const mailed = {
  browserCookie: 'give',
  body: z.strictObject({ email: Email, environment, browser_nonce }),
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
    )
    .meta({ examples: [`${prefix}_test_Zk3mQ9`] });

export const Session = z
  .strictObject({
    access_token: z.string().meta({ examples: ['eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhY2N0In0.c2lnbmF0dXJl'] }),
    token_type: z.literal('Bearer'),
    expires_in: z
      .int()
      .min(1)
      .max(86400)
      .meta({ description: 'Seconds', examples: [900] }),
    refresh_token: z
      .string()
      .optional()
      .meta({ description: 'Absent when it was put in the cookie', examples: ['rt_test_Zk3mQ9'] }),
    account: z.strictObject({ account_id: AccountId, email: z.string() }),
  })
  .meta({ id: 'Session' });

const refresh_in = z
  .enum(['body', 'cookie'])
  .optional()
  .meta({
    description:
      'Where the refresh token goes; default body. cookie: an HttpOnly, SameSite=Strict cookie that only ' +
      'POST /v1/auth/refresh is sent, for pages of our own origins.',
  });

// ---------- WebAuthn, in the JSON form of PublicKeyCredential.toJSON() ----------

/**
 * Attestation objects without attestation are some 300 bytes; a certificate chain would be refused
 * anyway.
 */
const bytes = (max = 4096) =>
  z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9_-]*$/, 'must be base64url')
    .meta({ examples: ['Zk3mQ9'] });
const credential = {
  id: bytes(1366),
  rawId: bytes(1366),
  type: z.literal('public-key'),
  // What extensions gave (a PRF's output is the client's secret) is the client's business: taken
  // and dropped.
  clientExtensionResults: z.record(z.string().max(64), z.unknown()),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).nullish(),
};
const transport = z
  .string()
  .regex(/^[a-z-]{1,32}$/)
  .meta({ examples: ['internal'] });
const Registration = z.strictObject({
  ...credential,
  response: z.strictObject({
    clientDataJSON: bytes(),
    attestationObject: bytes(16384),
    authenticatorData: bytes().optional(),
    transports: z.array(transport).max(8).optional(),
    publicKey: bytes().optional(),
    publicKeyAlgorithm: z
      .int()
      .min(-65536)
      .max(65536)
      .optional()
      .meta({ examples: [-7] }),
  }),
});
const Assertion = z.strictObject({
  ...credential,
  response: z.strictObject({
    clientDataJSON: bytes(),
    authenticatorData: bytes(),
    signature: bytes(),
    userHandle: bytes(128).nullish(),
  }),
});

const registering = {
  access: ['jwt'],
  stepUp: true,
  withoutRedis: 'refuse',
  limits: [{ points: 10, windowSeconds: 60, per: 'account' }] satisfies Limit[],
} as const;
const ofCredential = Environment.optional().meta({ description: 'Must be that of the access token' });
const Descriptor = z.strictObject({
  id: z.string(),
  type: z.literal('public-key'),
  transports: z.array(z.string()).optional(),
});

export const signInOperations = {
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
  readMagicLink: operation({
    summary: 'Read whose a sign-in link is, without using it',
    description:
      'For the page that a link opens: it shows the address before anybody signs in. same_browser is false ' +
      'where the link was asked for by another browser or by no page.',
    http: { method: 'POST', path: '/v1/auth/magic-link/read', status: 200 },
    access: [],
    environment: { prefixOf: 'token' },
    browserCookie: 'show',
    repeatable: true,
    body: z.strictObject({ token: token('ml'), browser_nonce }),
    output: z.strictObject({
      email: z.string().meta({ examples: ['ada@example.com'] }),
      same_browser: z.boolean(),
    }),
    errors: ['unauthorized'],
  }),
  verifyMagicLink: operation({
    summary: 'Use a sign-in link',
    description:
      'Single use, newest link only, 15 minutes. The first sign-in creates the account. With refresh_in: cookie, a ' +
      'link that another browser or no page asked for needs the email that the person has confirmed: else conflict, ' +
      'and the link stays good.',
    http: { method: 'POST', path: '/v1/auth/magic-link/verify', status: 200 },
    access: [],
    environment: { prefixOf: 'token' },
    refreshCookie: 'give',
    browserCookie: 'show',
    body: z.strictObject({
      token: token('ml'),
      refresh_in,
      email: Email.optional().meta({
        description: 'The account that the person was shown and has confirmed',
        examples: ['ada@example.com'],
      }),
      browser_nonce,
    }),
    output: Session,
    errors: ['unauthorized', 'conflict'],
  }),
  passkeyRegisterOptions: operation({
    summary: 'Begin to register a passkey',
    description:
      'The answer is what navigator.credentials.create takes, in its JSON form. Good for 5 minutes.',
    http: { method: 'POST', path: '/v1/auth/passkey/register/options', status: 200 },
    ...registering,
    body: z.strictObject({ environment: ofCredential }),
    bodyOptional: true,
    output: z.strictObject({
      challenge: z.string(),
      rp: z.strictObject({ id: z.string(), name: z.string() }),
      user: z.strictObject({ id: z.string(), name: z.string(), displayName: z.string() }),
      pubKeyCredParams: z.array(z.strictObject({ type: z.literal('public-key'), alg: z.int() })),
      timeout: z.int().meta({ description: 'Milliseconds' }),
      excludeCredentials: z.array(Descriptor),
      authenticatorSelection: z.strictObject({
        residentKey: z.literal('required'),
        requireResidentKey: z.literal(true),
        userVerification: z.literal('required'),
      }),
      attestation: z.literal('none'),
      extensions: z.strictObject({ credProps: z.literal(true) }),
    }),
    errors: ['conflict'],
  }),
  passkeyRegisterVerify: operation({
    summary: 'Register a passkey',
    description: 'Several per account. The owner is told by mail.',
    http: { method: 'POST', path: '/v1/auth/passkey/register/verify', status: 201 },
    ...registering,
    body: z.strictObject({
      environment: ofCredential,
      response: Registration,
      label: label(64, 'Laptop').optional(),
    }),
    output: Passkey,
    errors: ['conflict'],
  }),
  passkeyLoginOptions: operation({
    summary: 'Begin to sign in with a passkey',
    description: 'The answer is what navigator.credentials.get takes, in its JSON form. Good for 5 minutes.',
    http: { method: 'POST', path: '/v1/auth/passkey/login/options', status: 200 },
    access: [],
    environment: { field: 'environment' },
    body: z.strictObject({ environment }),
    bodyOptional: true,
    output: z.strictObject({
      challenge: z.string(),
      rpId: z.string(),
      timeout: z.int().meta({ description: 'Milliseconds' }),
      userVerification: z.literal('required'),
    }),
    errors: [],
  }),
  passkeyLoginVerify: operation({
    summary: 'Sign in with a passkey',
    http: { method: 'POST', path: '/v1/auth/passkey/login/verify', status: 200 },
    access: [],
    environment: { field: 'environment' },
    refreshCookie: 'give',
    body: z.strictObject({ environment, response: Assertion, refresh_in }),
    output: Session,
    errors: ['unauthorized'],
  }),
  refresh: operation({
    summary: 'Exchange a refresh token for a new pair',
    description:
      'Rotated at every use; reuse of an old one ends the whole sign-in. Without refresh_token that of the cookie ' +
      'is taken, and the next one put there.',
    http: { method: 'POST', path: '/v1/auth/refresh', status: 200 },
    access: [],
    environment: { prefixOf: 'refresh_token' },
    refreshCookie: 'exchange',
    body: z.strictObject({
      refresh_token: token('rt').optional(),
      environment: Environment.optional().meta({ description: 'Whose cookie; default test' }),
    }),
    bodyOptional: true,
    output: Session,
    errors: ['unauthorized'],
  }),
  logout: operation({
    summary: 'End this sign-in at once',
    http: { method: 'POST', path: '/v1/auth/logout', status: 204 },
    access: ['jwt'],
    whenFrozen: 'served',
    refreshCookie: 'clear',
    body: z.strictObject({ refresh_token: token('rt').optional() }),
    bodyOptional: true,
    output: z.null(),
    errors: [],
  }),
} as const;
