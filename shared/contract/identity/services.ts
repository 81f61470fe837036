import { z } from 'zod';
import { extended } from '../extended.ts';
import { shownOnce } from '../idempotency.ts';
import {
  createdAt,
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  page,
  pageQuery,
  ServiceId,
  SolanaAddress,
  Timestamp,
} from '../primitives.ts';
import { type Limit, operation } from '../service.ts';
import { sent } from './sign-in.ts';

const RedeemWindow = z
  .int()
  .min(30)
  .max(604800)
  .meta({ description: 'Seconds to redeem a settlement, after it is paid', examples: [900] });
/** How long a key remains valid after its rotation (docs/spec/decisions.md, Services). */
const GraceHours = z
  .int()
  .min(0)
  .max(168)
  .meta({ description: 'Hours for which a key remains valid after its rotation', examples: [24] });

const serviceName = <T extends z.ZodType>(name: T): T =>
  name.meta({ description: 'Payers see it', examples: ['Weather API'] });
const payoutAddress = SolanaAddress.describe('The wallet that is paid');

export const DOMAIN_PROBLEMS = ['record_missing', 'record_differs', 'no_answer'] as const;
/** For how long a domain counts as proven after its record was last seen (docs/adr/0083). */
export const DOMAIN_PROVEN_HOURS = 72;

const ServiceDomain = z
  .strictObject({
    name: z.string().meta({ description: 'The domain, in ASCII', examples: ['xn--mnchen-3ya.de'] }),
    display_name: z.string().meta({
      description:
        'As buyers are shown it: in its own letters, unless they could be taken for those of another domain',
      examples: ['münchen.de'],
    }),
    status: z
      .enum(['unproven', 'verified'])
      .describe('verified: buyers are shown the domain. unproven: they are not'),
    record: z
      .strictObject({
        type: z.literal('TXT').describe('The type of the record'),
        name: z.string().meta({
          description: 'The name of the record',
          examples: ['_quittance.xn--mnchen-3ya.de'],
        }),
        value: z.string().meta({
          description: 'Its value. The record may have further ones',
          examples: ['quittance-service=3f0e6b1c-6b0a-4f0e-9c1e-2b9f8f3a7d10'],
        }),
      })
      .describe('The record of the domain’s DNS that proves it'),
    problem: z
      .enum(DOMAIN_PROBLEMS)
      .nullable()
      .describe(
        'What the last check found. record_missing: there is no such record. record_differs: its values name ' +
          'other services. no_answer: the name servers of the domain did not answer. Null: the proof, or nothing ' +
          'was checked yet',
      ),
    verified_at: Timestamp.nullable().describe(
      'When the proof was last seen. Null: it was not, or longer ago than it counts',
    ),
    checked_at: Timestamp.nullable().describe('When it was last looked for. Null: not yet'),
  })
  .meta({ id: 'ServiceDomain' });

/** A service as quotes and payments need it. */
export const ServiceTerms = z.strictObject({
  service_id: ServiceId,
  name: serviceName(z.string()),
  price: MicroUsdc.describe('What the payer pays, unless a quote has its own amount'),
  payout_address: payoutAddress,
  next_payout: z
    .strictObject({
      payout_address: payoutAddress,
      effective_at: Timestamp.describe('From when payments go there'),
    })
    .nullable()
    .describe('A change of the payout address that is not effective yet. Null: none'),
  redeem_window_seconds: RedeemWindow,
  key_grace_hours: GraceHours,
  domain: ServiceDomain.nullable().describe('The domain that the vendor claims. Null: none'),
  status: z
    .enum(['active', 'closing'])
    .describe('closing: no new quotes. Payments can still be redeemed and refunded'),
  created_at: createdAt,
});

/** The shape only. The service makes its one form of it. */
const Domain = z
  .string()
  .max(253, { abort: true })
  .regex(/^[^\s\p{Cc}\p{Cs}]+$/u, 'must be a public domain like shop.example.com')
  .meta({
    description:
      'A domain of yours, which buyers are shown once it is proven. A new one begins without proof. Null: none',
    examples: ['shop.example.com'],
  });

const AnyBlock = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
const IpBlock = z
  .string()
  .max(64)
  .refine((text) => AnyBlock.safeParse(text).success, {
    error: 'must be an address or a CIDR block, like 203.0.113.0/24',
  })
  .meta({ id: 'IpBlock', description: 'An address or a CIDR block', examples: ['203.0.113.0/24'] });
const AllowedIps = z.array(IpBlock).min(1).max(20).nullable().meta({
  description: 'From where the keys of the service may be used. Null: from any address',
});

const feeAndNet = {
  fee_amount: MicroUsdcOrZero.meta({ description: 'The fee of a quote for the price' }),
  net_amount: MicroUsdcOrZero.meta({
    description: 'What you receive of a quote for the price: the price less the fee',
  }),
};

const Service = z
  .strictObject({ ...ServiceTerms.shape, allowed_ips: AllowedIps, ...feeAndNet })
  .meta({ id: 'Service' });

const byId = z.strictObject({ service_id: ServiceId });

// Keys of services and of delegates are counted together.
const ROTATE: Limit[] = [{ points: 3, windowSeconds: 60, per: 'account', bucket: 'key-rotation' }];
const REVEAL: Limit[] = [{ points: 5, windowSeconds: 300, per: 'account', bucket: 'key-reveal' }];

/** The token of the mailed link; GET never consumes it. */
const RevealToken = z
  .string()
  .max(256)
  .regex(/^rv_(test|live)_[A-Za-z0-9_-]+$/, 'must be a token that begins with rv_test_ or rv_live_')
  .meta({ description: 'The token of the mailed link', examples: ['rv_test_Zk3mQ9'] });
const RevokePrevious = z.boolean().optional().meta({
  description:
    'Revoke all other keys immediately. Without it the previous key stays valid for its grace period',
});

const apiKey = {
  api_key: z.string().meta({
    description: 'The key. It is shown only in this answer. Keep it secret',
    examples: ['vendor_test_Zk3mQ9'],
  }),
};

const KeyRotation = z
  .strictObject({
    previous_key_expires_at: Timestamp.nullable().describe(
      'Until when the previous key works, too. Null: it works no longer',
    ),
  })
  .meta({ id: 'KeyRotation' });
const NewKey = extended(KeyRotation, apiKey, {
  id: 'NewKey',
  description: 'The key is shown only in this answer',
});

/**
 * The three key operations, the same for services and delegates (docs/spec/interface.md, Key
 * endpoints of a service).
 */
export const rotating = {
  summary: 'Rotate the key',
  description:
    'Called with the current key, or with the owner’s sign-in of the last 5 minutes. Only the owner may set ' +
    '`revoke_previous`. At most two keys are valid: a further rotation revokes the older one.',
  limits: ROTATE,
  withoutRedis: 'refuse',
  stepUp: true,
  body: z.strictObject({ revoke_previous: RevokePrevious }).meta({ id: 'RotateKeyRequest' }),
  bodyOptional: true,
  idempotency: { secret: 'api_key' },
  defaults: { revoke_previous: false },
  output: shownOnce(KeyRotation, apiKey, 'RotatedKey'),
  errors: ['not_found'],
} as const;
export const revealing = {
  summary: 'Mail a link that replaces the key',
  description:
    'Only hashes of keys are stored, so the link creates a replacement key. The link is valid for 15 minutes, once, and only the newest link works.',
  access: ['jwt'],
  limits: REVEAL,
  withoutRedis: 'refuse',
  stepUp: true,
  body: z.strictObject({ revoke_previous: RevokePrevious }).meta({ id: 'RevealKeyRequest' }),
  bodyOptional: true,
  output: sent,
  errors: ['not_found'],
} as const;
export const verifyingReveal = {
  summary: 'Use the mailed link to get a replacement key, once',
  access: [],
  withoutRedis: 'refuse',
  environment: { prefixOf: 'token' },
  body: z.strictObject({ token: RevealToken }).meta({ id: 'VerifyKeyRevealRequest' }),
  output: NewKey,
  errors: ['unauthorized'],
} as const;

const settings = {
  name: serviceName(label(80)),
  price: MicroUsdc.meta({
    description:
      'What the payer pays. It must exceed the fee, which the vendor absorbs: `net_amount` of the answer ' +
      'is what you receive. Prices of x402 routes may be lower',
  }),
  payout_address: payoutAddress,
  redeem_window_seconds: RedeemWindow.optional().describe(
    'Seconds to redeem a settlement, after it is paid. Default 900',
  ),
  key_grace_hours: GraceHours.optional().meta({
    description: 'Hours for which a key remains valid after its rotation. Default 24',
  }),
  allow_off_curve: z
    .boolean()
    .optional()
    .meta({ description: 'Needed for a multisig vault as payout address' }),
};

/** Vendor services and their keys: part of identity's contract. */
export const serviceOperations = {
  createService: operation({
    summary: 'Create a vendor service and its API key',
    description: 'The api_key is shown only in this answer.',
    journey: 'sell',
    http: { method: 'POST', path: '/v1/services', status: 201 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    limits: [{ points: 10, windowSeconds: 60, per: 'account' }],
    body: z.strictObject(settings).meta({ id: 'CreateServiceRequest' }),
    idempotency: { secret: 'api_key' },
    defaults: { redeem_window_seconds: 900, key_grace_hours: 24, allow_off_curve: false },
    output: shownOnce(Service, apiKey, 'NewService'),
    errors: [],
  }),
  listServices: operation({
    summary: 'List vendor services',
    journey: 'read',
    http: { method: 'GET', path: '/v1/services', status: 200 },
    access: ['jwt'],
    query: z.strictObject(pageQuery),
    output: page(Service),
    errors: [],
  }),
  getService: operation({
    summary: 'Get a vendor service',
    journey: 'read',
    http: { method: 'GET', path: '/v1/services/:service_id', status: 200 },
    access: ['jwt'],
    params: byId,
    output: Service,
    errors: ['not_found'],
  }),
  showFee: operation({
    summary: 'Show the fee of a price and what you receive',
    description:
      'Without a service, so that a form can show it before the price is saved. A price whose `net_amount` is 0 ' +
      'cannot be the price of a service.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/services/fee', status: 200 },
    access: ['jwt'],
    query: z.strictObject({ price: MicroUsdc.describe('A price in micro-units') }),
    output: z
      .strictObject({
        price: MicroUsdc.describe('The price that was asked for'),
        ...feeAndNet,
        lowest_price: MicroUsdc.meta({
          description: 'The lowest price that a service may have',
          examples: ['10001'],
        }),
      })
      .meta({ id: 'PriceFee' }),
    errors: [],
  }),
  updateService: operation({
    summary: 'Change a vendor service',
    description:
      'The owner is notified of a new payout address, and of other `allowed_ips`, by mail. In live a new payout address ' +
      'takes effect after 24 hours. Until then, setting the current address again cancels the change. A change of ' +
      '`allowed_ips` applies within a second.',
    journey: 'sell',
    http: { method: 'PATCH', path: '/v1/services/:service_id', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['payout_changed', 'allowed_ips_changed'],
    params: byId,
    body: z
      .strictObject({ ...settings, allowed_ips: AllowedIps, domain: Domain.nullable() })
      .partial()
      .meta({ id: 'UpdateServiceRequest' }),
    output: Service,
    stepUp: {
      when: {
        'for a new payout address': 'payout_changed',
        'for other allowed_ips': 'allowed_ips_changed',
      },
    },
    errors: ['not_found'],
  }),
  checkServiceDomain: operation({
    summary: 'Check a service domain',
    description:
      'Reads the TXT record that `domain.record` of the service names. It is also looked for every few hours: a ' +
      'proof that is gone is shown no more, and one that cannot be read is shown for ' +
      `${DOMAIN_PROVEN_HOURS} hours after it was last seen.`,
    journey: 'sell',
    http: { method: 'POST', path: '/v1/services/:service_id/domain/check', status: 200 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    limits: [{ points: 10, windowSeconds: 60, per: 'account' }],
    params: byId,
    output: Service,
    errors: ['not_found', 'conflict'],
  }),
  deleteService: operation({
    summary: 'Delete a vendor service, or close it while payments are open',
    description:
      'Refused while quotes or settlements are open, unless `mode` is `close`. A closing service creates no new ' +
      'quotes. Redeem, verify, consume and refunds work until 30 days after the last redeem window.',
    journey: 'sell',
    http: { method: 'DELETE', path: '/v1/services/:service_id', status: 204 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    params: byId,
    body: z
      .strictObject({
        mode: z.literal('close').optional().describe('Closes the service if it cannot be deleted yet'),
      })
      .meta({ id: 'DeleteServiceRequest' }),
    bodyOptional: true,
    output: z.null(),
    errors: ['not_found', 'conflict'],
  }),
  rotateServiceKey: operation({
    ...rotating,
    journey: 'sell',
    http: { method: 'POST', path: '/v1/services/:service_id/key/rotate', status: 200 },
    access: ['service_key', 'jwt'],
    authorisedBy: { service_key: 'current_key', jwt: 'step_up' },
    notes: ['key_rotated'],
    params: byId,
  }),
  revealServiceKey: operation({
    ...revealing,
    journey: 'sell',
    http: { method: 'POST', path: '/v1/services/:service_id/key/reveal', status: 200 },
    authorisedBy: { jwt: 'step_up' },
    notes: ['key_reveal'],
    params: byId,
  }),
  verifyServiceReveal: operation({
    ...verifyingReveal,
    journey: 'sell',
    http: { method: 'POST', path: '/v1/services/:service_id/key/reveal/verify', status: 200 },
    authorisedBy: { none: 'mailed_link' },
    params: byId,
  }),
};
