import { z } from 'zod';
import { AccountId, Environment, label } from '../primitives.ts';
import { type Limit, operation } from '../service.ts';
import { Passkey } from './accounts.ts';
import { Assertion, PasskeyOptions, PasskeyRegistrationOptions, Registration } from './webauthn.ts';

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
  .meta({ id: 'Email', description: 'Mail address', examples: ['ada@example.com'] });

/** How long a sign-in link is valid (docs/spec/decisions.md, Sign-in). */
export const LINK_MINUTES = 15;

/** How long a browser counts as known after its last sign-in. */
export const KNOWN_BROWSER_DAYS = 180;

/** 256 random bits as base64url. */
export const BrowserNonce = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes as base64url');
const browser_nonce = BrowserNonce.optional().meta({
  description:
    'Identifies the browser that requests the link. A browser that has signed in to the address has a limit of its ' +
    'own. For pages of our own origins the API sets it in a cookie that ' +
    'scripts cannot read. Other clients omit it.',
  examples: ['n'.repeat(43)],
});

/**
 * Pages of ours that take a payment, and nothing else, so that a mail leads to no other address.
 * The order of a vendor is in the fragment, as the SDK writes it.
 */
const ContinueTo = z
  .string()
  .max(16_384, { abort: true })
  .regex(
    /^\/pay(#[A-Za-z0-9_-]+|\/(test|live)\/pl_[0-9a-z]{26})$/,
    'must be the path of a page of ours that takes a payment',
  );

const environment = Environment.optional().describe('The environment to sign in to. Default test');
/** The answer of a call that sends a mail. */
export const sent = z
  .strictObject({ status: z.literal('sent').describe('The mail is on its way') })
  .meta({ id: 'MailSent' });
const mailed = {
  browserCookie: 'give',
  body: z
    .strictObject({
      email: Email.describe('Where the link is sent'),
      environment,
      continue_to: ContinueTo.optional().meta({
        description:
          'The payment page that requests the link. The page that the link opens goes on there. The mail does not contain it',
        examples: ['/pay/test/pl_01jd3v9k5mfx2r8q7n6t4w0yzc'],
      }),
      browser_nonce,
    })
    .meta({ id: 'MagicLinkRequest' }),
  output: sent,
  environment: { field: 'environment' },
  limits: [
    { points: 5, windowSeconds: 900, per: { field: 'email' }, bucket: 'mail-to-address' },
    { points: 30, windowSeconds: 600, per: 'ip', bucket: 'mail-from-ip' },
  ] satisfies Limit[],
  withoutRedis: 'refuse',
} as const;

const LINK_TOKEN = 'The token of the mailed link';
const token = (prefix: string, description: string) =>
  z
    .string()
    .max(256)
    .regex(
      new RegExp(`^${prefix}_(test|live)_[A-Za-z0-9_-]+$`),
      `must be a token that begins with ${prefix}_test_ or ${prefix}_live_`,
    )
    .meta({ description, examples: [`${prefix}_test_Zk3mQ9`] });

export const Session = z
  .strictObject({
    access_token: z.string().meta({
      description: 'The credential of this person: a JWT, valid for `expires_in`',
      examples: ['eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhY2N0In0.c2lnbmF0dXJl'],
    }),
    token_type: z.literal('Bearer').describe('How the access token is sent: `Authorization: Bearer …`'),
    expires_in: z
      .int()
      .min(1)
      .max(86400)
      .meta({ description: 'Seconds until the access token expires', examples: [900] }),
    refresh_token: z
      .string()
      .optional()
      .meta({
        description: 'Gets the next access token, once. Absent if it was set in the cookie',
        examples: ['rt_test_Zk3mQ9'],
      }),
    account: z
      .strictObject({
        account_id: AccountId,
        email: z
          .string()
          .meta({ description: 'The mail address that signs in', examples: ['ada@example.com'] }),
      })
      .describe('Who signed in'),
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

const registering = {
  access: ['jwt'],
  stepUp: true,
  withoutRedis: 'refuse',
  limits: [{ points: 10, windowSeconds: 60, per: 'account' }] satisfies Limit[],
} as const;
const ofCredential = Environment.optional().meta({
  description: 'Must be the environment of the access token',
});
export const signInOperations = {
  createAccount: operation({
    summary: 'Create an account by a mailed sign-in link',
    description:
      'The account is created when the link is used. The answer is the same for known and unknown addresses.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/accounts', status: 202 },
    access: [],
    authorisedBy: 'nothing',
    ...mailed,
    errors: [],
  }),
  requestMagicLink: operation({
    summary: 'Mail a sign-in link',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/magic-link', status: 202 },
    access: [],
    authorisedBy: 'nothing',
    ...mailed,
    errors: [],
  }),
  readMagicLink: operation({
    summary: 'Get the address of a sign-in link without using it',
    description:
      'For the page that a link opens, which shows the address before the person signs in. same_browser is false ' +
      'if the link was requested by another browser or by no page.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/magic-link/read', status: 200 },
    access: [],
    authorisedBy: 'nothing',
    environment: { prefixOf: 'token' },
    browserCookie: 'show',
    repeatable: true,
    body: z
      .strictObject({ token: token('ml', LINK_TOKEN), browser_nonce })
      .meta({ id: 'ReadMagicLinkRequest' }),
    output: z
      .strictObject({
        email: z.string().meta({ description: 'Whom the link signs in', examples: ['ada@example.com'] }),
        same_browser: z.boolean().describe('Whether this browser has requested the link'),
        continue_to: ContinueTo.nullable().meta({
          description: 'The payment page that has requested the link. Null: another page, or none',
          examples: ['/pay/test/pl_01jd3v9k5mfx2r8q7n6t4w0yzc'],
        }),
      })
      .meta({ id: 'MagicLink' }),
    errors: ['unauthorized'],
  }),
  followMagicLink: operation({
    summary: 'Follow this browser’s sign-in link',
    description:
      'For the page that waits for a sign-in. It reads the newest link that was requested with the browser’s ' +
      'cookie. Other clients get none.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/magic-link/follow', status: 200 },
    access: [],
    authorisedBy: 'nothing',
    environment: { field: 'environment' },
    browserCookie: 'show',
    repeatable: true,
    body: z.strictObject({ environment, browser_nonce }).meta({ id: 'FollowMagicLinkRequest' }),
    output: z
      .strictObject({
        status: z
          .enum(['none', 'waiting', 'used_here', 'used_elsewhere'])
          .describe(
            'waiting: it can be used. used_here: this browser has signed in by it. used_elsewhere: another one ' +
              'has. none: there is none, or it has expired',
          ),
      })
      .meta({ id: 'FollowedMagicLink' }),
    errors: [],
  }),
  verifyMagicLink: operation({
    summary: 'Use a sign-in link',
    description:
      'A link is valid for 15 minutes, once. The newest three links of an address work until one is used. The ' +
      'first sign-in creates the account. With refresh_in: cookie, a link that was requested by another browser or by no page needs the ' +
      'email that the person has confirmed. Without it the answer is conflict, and the link remains valid.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/magic-link/verify', status: 200 },
    access: [],
    authorisedBy: { none: 'mailed_link' },
    environment: { prefixOf: 'token' },
    refreshCookie: 'give',
    browserCookie: 'show',
    body: z
      .strictObject({
        token: token('ml', LINK_TOKEN),
        refresh_in,
        email: Email.optional().meta({
          description: 'The address that the person was shown and has confirmed',
          examples: ['ada@example.com'],
        }),
        browser_nonce,
      })
      .meta({ id: 'VerifyMagicLinkRequest' }),
    output: Session,
    errors: ['unauthorized', 'conflict'],
  }),
  passkeyRegisterOptions: operation({
    summary: 'Begin to register a passkey',
    description:
      'The answer is the argument of navigator.credentials.create, in its JSON form. Valid for 5 minutes.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/passkey/register/options', status: 200 },
    authorisedBy: { jwt: 'step_up' },
    ...registering,
    body: z.strictObject({ environment: ofCredential }).meta({ id: 'PasskeyRegisterOptionsRequest' }),
    bodyOptional: true,
    output: PasskeyRegistrationOptions,
    errors: ['conflict'],
  }),
  passkeyRegisterVerify: operation({
    summary: 'Register a passkey',
    description: 'An account may have several passkeys. The owner is notified by mail.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/passkey/register/verify', status: 201 },
    authorisedBy: { jwt: 'step_up' },
    notes: ['passkey_added'],
    ...registering,
    body: z
      .strictObject({
        environment: ofCredential,
        response: Registration.describe('What the browser returned, as JSON'),
        label: label(64, 'Laptop').optional().describe('A name for the owner'),
      })
      .meta({ id: 'PasskeyRegisterVerifyRequest' }),
    output: Passkey,
    errors: ['conflict'],
  }),
  passkeyLoginOptions: operation({
    summary: 'Begin to sign in with a passkey',
    description:
      'The answer is the argument of navigator.credentials.get, in its JSON form. Valid for 5 minutes.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/passkey/login/options', status: 200 },
    access: [],
    authorisedBy: 'nothing',
    environment: { field: 'environment' },
    body: z.strictObject({ environment }).meta({ id: 'PasskeyLoginOptionsRequest' }),
    bodyOptional: true,
    output: PasskeyOptions,
    errors: [],
  }),
  passkeyLoginVerify: operation({
    summary: 'Sign in with a passkey',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/passkey/login/verify', status: 200 },
    access: [],
    authorisedBy: { none: 'passkey' },
    environment: { field: 'environment' },
    refreshCookie: 'give',
    body: z
      .strictObject({
        environment,
        response: Assertion.describe('What the browser returned, as JSON'),
        refresh_in,
      })
      .meta({ id: 'PasskeyLoginVerifyRequest' }),
    output: Session,
    errors: ['unauthorized'],
  }),
  refresh: operation({
    summary: 'Exchange a refresh token for a new pair',
    description:
      'A refresh token is rotated at every use. Reuse of an old token ends the sign-in. Without refresh_token, ' +
      'the token of the cookie is used, and the next one is set in the cookie.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/refresh', status: 200 },
    access: [],
    authorisedBy: { none: 'refresh_token' },
    environment: { prefixOf: 'refresh_token' },
    refreshCookie: 'exchange',
    body: z
      .strictObject({
        refresh_token: token('rt', 'The newest refresh token').optional(),
        environment: Environment.optional().meta({
          description: 'The environment of the cookie. Default test',
        }),
      })
      .meta({ id: 'RefreshRequest' }),
    bodyOptional: true,
    output: Session,
    errors: ['unauthorized'],
  }),
  logout: operation({
    summary: 'End this sign-in immediately',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/logout', status: 204 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    fromDevice: 'served',
    whenFrozen: 'served',
    refreshCookie: 'clear',
    body: z
      .strictObject({ refresh_token: token('rt', 'The refresh token of this sign-in').optional() })
      .meta({ id: 'LogoutRequest' }),
    bodyOptional: true,
    output: z.null(),
    errors: [],
  }),
} as const;
