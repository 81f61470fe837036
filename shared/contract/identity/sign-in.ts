import { z } from 'zod';
import { AccountId, Environment, label } from '../primitives.ts';
import { type Limit, operation } from '../service.ts';
import { Passkey } from './accounts.ts';

/** The operations of identity by which a person signs in and out. */

/** Maximum length of a mail address: 254 characters (RFC 5321). */
export const LONGEST_EMAIL = 254;

/**
 * The shape only. The service normalises the address and checks the rest (IDN look-alikes, CR and
 * LF). `abort` keeps a longer text from the pattern, where a text of dots would block the process
 * for seconds.
 */
const Email = z
  .string()
  .min(3)
  .max(LONGEST_EMAIL, { abort: true })
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+\.[^\s@\p{Cc}]+$/u, 'must be an e-mail address')
  .meta({ id: 'Email', examples: ['ada@example.com'] });

/** How long a sign-in link is valid (docs/spec/decisions.md, Sign-in). */
export const LINK_MINUTES = 15;

/** 256 random bits as base64url. */
export const BrowserNonce = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes as base64url');
const browser_nonce = BrowserNonce.optional().meta({
  description:
    'Identifies the browser that requests the link. For pages of our own origins the API sets it in a cookie that ' +
    'scripts cannot read. Other clients omit it.',
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
      .meta({ description: 'Absent if it was set in the cookie', examples: ['rt_test_Zk3mQ9'] }),
    account: z.strictObject({ account_id: AccountId, email: z.string() }),
  })
  .meta({ id: 'Session' });

const refresh_in = z
  .enum(['body', 'cookie'])
  .optional()
  .meta({
    description:
      'Where the refresh token is returned. Default body. cookie: an HttpOnly, SameSite=Strict cookie that is ' +
      'sent only to POST /v1/auth/refresh, for pages of our own origins.',
  });

// ---------- WebAuthn, in the JSON form of PublicKeyCredential.toJSON() ----------

/**
 * An attestation object without attestation has about 300 bytes. One with a certificate chain is
 * refused in any case.
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
  // Results of extensions are accepted and dropped: they belong to the client (a PRF's output is
  // its secret).
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
export const Assertion = z.strictObject({
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
const ofCredential = Environment.optional().meta({
  description: 'Must be the environment of the access token',
});
const Descriptor = z.strictObject({
  id: z.string(),
  type: z.literal('public-key'),
  transports: z.array(z.string()).optional(),
});

export const signInOperations = {
  createAccount: operation({
    summary: 'Create an account by a mailed sign-in link',
    description:
      'The account is created when the link is used. The answer is the same for known and unknown addresses.',
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
    summary: 'Get the address of a sign-in link without using it',
    description:
      'For the page that a link opens, which shows the address before the person signs in. same_browser is false ' +
      'if the link was requested by another browser or by no page.',
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
      'A link is valid for 15 minutes, once, and only the newest link works. The first sign-in creates the ' +
      'account. With refresh_in: cookie, a link that was requested by another browser or by no page needs the ' +
      'email that the person has confirmed. Without it the answer is conflict, and the link remains valid.',
    http: { method: 'POST', path: '/v1/auth/magic-link/verify', status: 200 },
    access: [],
    environment: { prefixOf: 'token' },
    refreshCookie: 'give',
    browserCookie: 'show',
    body: z.strictObject({
      token: token('ml'),
      refresh_in,
      email: Email.optional().meta({
        description: 'The address that the person was shown and has confirmed',
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
      'The answer is the argument of navigator.credentials.create, in its JSON form. Valid for 5 minutes.',
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
    description: 'An account may have several passkeys. The owner is notified by mail.',
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
    description:
      'The answer is the argument of navigator.credentials.get, in its JSON form. Valid for 5 minutes.',
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
      'A refresh token is rotated at every use. Reuse of an old token ends the sign-in. Without refresh_token, ' +
      'the token of the cookie is used, and the next one is set in the cookie.',
    http: { method: 'POST', path: '/v1/auth/refresh', status: 200 },
    access: [],
    environment: { prefixOf: 'refresh_token' },
    refreshCookie: 'exchange',
    body: z.strictObject({
      refresh_token: token('rt').optional(),
      environment: Environment.optional().meta({
        description: 'The environment of the cookie. Default test',
      }),
    }),
    bodyOptional: true,
    output: Session,
    errors: ['unauthorized'],
  }),
  logout: operation({
    summary: 'End this sign-in immediately',
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
