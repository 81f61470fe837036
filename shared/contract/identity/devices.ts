import { z } from 'zod';
import { extended } from '../extended.ts';
import { Environment, label, Timestamp } from '../primitives.ts';
import { operation } from '../service.ts';
import { Session } from './sign-in.ts';

/** How long a person has to confirm a sign-in of a device. */
export const DEVICE_MINUTES = 10;
/** Seconds between two polls of a device. */
export const DEVICE_INTERVAL_SECONDS = 2;

/** Eight consonants, which spell no word and are not mistaken for each other (RFC 8628, 6.1). */
const UserCode = z
  .string()
  .regex(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/, 'must be a code like WDJB-MJHT')
  .meta({
    id: 'UserCode',
    description: 'The code that the device shows and the person types',
    examples: ['WDJB-MJHT'],
  });
const DeviceCode = z
  .string()
  .max(256)
  .regex(/^dc_(test|live)_[A-Za-z0-9_-]+$/, 'must be a token that begins with dc_test_ or dc_live_')
  .meta({
    description: 'The secret of the device, with which it polls',
    examples: ['dc_test_Zk3mQ9'],
  });
const clientName = label(80, 'quittance on build-7').meta({
  description: 'Shown to the person who confirms',
});

const askedFrom = {
  address: z
    .string()
    .nullable()
    .meta({
      description: 'The network from which the device asked. Null: unknown',
      examples: ['203.0.113.0/24'],
    }),
  agent: z
    .string()
    .nullable()
    .meta({
      description: 'The kind of program that asked, by its own word',
      examples: ['Quittance command line'],
    }),
};

const Authorized = extended(
  Session,
  { status: z.literal('authorized').describe('The person has allowed it') },
  { id: 'DeviceSession' },
);
const Pending = z
  .strictObject({ status: z.literal('pending').describe('The person has not decided') })
  .meta({ id: 'PendingDeviceSignIn' });

/**
 * Sign-in of a command line or a device, confirmed in the console: the device authorization grant
 * (RFC 8628) in the JSON form of this API.
 */
export const deviceOperations = {
  startDeviceSignIn: operation({
    summary: 'Begin to sign in a device',
    description:
      'Show the person `user_code` and `verification_uri`, and poll `POST /v1/auth/device/token` every `interval` ' +
      'seconds. As RFC 8628 specifies it, in JSON.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/device', status: 200 },
    access: [],
    authorisedBy: 'nothing',
    environment: { field: 'environment' },
    withoutRedis: 'refuse',
    limits: [{ points: 20, windowSeconds: 600, per: 'ip' }],
    body: z
      .strictObject({
        client_name: clientName,
        environment: Environment.optional().describe('The environment to sign in to. Default test'),
      })
      .meta({ id: 'StartDeviceSignInRequest' }),
    output: z
      .strictObject({
        device_code: DeviceCode,
        user_code: UserCode,
        verification_uri: z.string().meta({
          description: 'The page where the person types the code',
          examples: ['https://console.example.com/device'],
        }),
        verification_uri_complete: z.string().meta({
          description:
            'The same page, for this environment. It does not fill the code in: the person types what the device shows, ' +
            'because a link is how codes are phished (RFC 8628, 5.4)',
          examples: ['https://console.example.com/device?code=WDJB-MJHT'],
        }),
        expires_in: z.int().meta({ description: 'Seconds until the codes expire', examples: [600] }),
        interval: z.int().meta({ description: 'Seconds between two polls', examples: [2] }),
      })
      .meta({ id: 'DeviceSignIn' }),
    errors: [],
  }),
  pollDeviceSignIn: operation({
    summary: 'Get the session of a device that a person has confirmed',
    description:
      '202 while nobody has decided. rate_limited is slow_down of RFC 8628: poll again after Retry-After, and less ' +
      'often from then on. forbidden: the person has denied it, or the account is frozen. ' +
      'unauthorized: the code is unknown, has expired or was used.',
    journey: 'sign-in',
    http: {
      method: 'POST',
      path: '/v1/auth/device/token',
      status: 200,
      alternative: {
        status: 202,
        field: 'status',
        equals: 'pending',
        retryAfterSeconds: DEVICE_INTERVAL_SECONDS,
      },
    },
    access: [],
    authorisedBy: { none: 'confirmed_code' },
    environment: { prefixOf: 'device_code' },
    limits: [
      { points: 60, windowSeconds: 60, per: { field: 'device_code' } },
      // The caller chooses the code. Four devices behind one address can poll at the interval.
      { points: 120, windowSeconds: 60, per: 'ip' },
    ],
    body: z.strictObject({ device_code: DeviceCode }).meta({ id: 'PollDeviceSignInRequest' }),
    output: z.discriminatedUnion('status', [Authorized, Pending]),
    errors: ['unauthorized', 'forbidden'],
  }),
  readDeviceSignIn: operation({
    summary: 'Get what a device asks for, by the code that it shows',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/device/read', status: 200 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    withoutRedis: 'refuse',
    limits: [{ points: 20, windowSeconds: 600, per: 'account', bucket: 'device-codes' }],
    repeatable: true,
    body: z.strictObject({ user_code: UserCode }).meta({ id: 'ReadDeviceSignInRequest' }),
    output: z
      .strictObject({
        client_name: clientName,
        ...askedFrom,
        created_at: Timestamp.describe('When the device asked'),
        expires_at: Timestamp.describe('Until when it can be decided'),
      })
      .meta({ id: 'DeviceSignInDetails' }),
    errors: ['not_found'],
  }),
  decideDeviceSignIn: operation({
    summary: 'Allow or deny the sign-in of a device',
    description:
      'An allowed device gets a sign-in of this account, which GET /v1/accounts/me/sessions lists. The first ' +
      'decision stands: another one is conflict. The device reads, pays within the limits of the account, and creates ' +
      'delegates with limits, which end with its sign-in.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/auth/device/decide', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['device_allowed'],
    stepUp: true,
    withoutRedis: 'refuse',
    limits: [{ points: 20, windowSeconds: 600, per: 'account', bucket: 'device-codes' }],
    repeatable: true,
    body: z
      .strictObject({
        user_code: UserCode,
        allow: z.boolean().describe('true signs the device in, false denies it'),
      })
      .meta({ id: 'DecideDeviceSignInRequest' }),
    output: z
      .strictObject({ status: z.enum(['allowed', 'denied']).describe('What was decided') })
      .meta({ id: 'DeviceSignInDecision' }),
    errors: ['not_found', 'conflict'],
  }),
};
