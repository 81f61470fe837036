import { z } from 'zod';
import { shownOnce } from '../idempotency.ts';
import { byName, CAPS, COUNTED_CAPS, LIMITS } from '../limits.ts';
import {
  createdAt,
  DelegateId,
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  Moment,
  page,
  pageQuery,
  ServiceId,
  SolanaAddress,
  Timestamp,
  WalletId,
} from '../primitives.ts';
import { operation } from '../service.ts';
import { DEVICE_DELEGATE } from './device-delegates.ts';
import { revealing, rotating, verifyingReveal } from './services.ts';

const caps = byName(CAPS, (name) => MicroUsdc.describe(LIMITS[name].cap.field));
/** Caps in micro-units; null: no cap. Days and months are UTC. */
export const DelegateLimits = z
  .strictObject(byName(CAPS, (name) => caps[name].nullable()))
  .meta({ id: 'DelegateLimits', description: 'What the key may spend. Null: no limit' });

const Usage = z
  .strictObject({
    spent: MicroUsdcOrZero.describe('What was paid in this period'),
    held: MicroUsdcOrZero.meta({ description: 'Reserved for payments that are under way' }),
    remaining: MicroUsdcOrZero.nullable().describe('What may still be paid. Null: no limit'),
    resets_at: Timestamp.nullable().describe('When the period ends. Null: never'),
  })
  .meta({ id: 'DelegateUsage', description: 'How much of a limit is used' });
export const DelegateUsage = z
  .strictObject(byName(COUNTED_CAPS, (name) => Usage.describe(LIMITS[name].cap.usage.field)))
  .meta({ id: 'DelegateUsages' });

export const AllowedServices = z.array(ServiceId).min(1).max(100);

/**
 * What a key may pay to vendors that do not use Quittance. `pay_to` is compared with the signed
 * bytes. `origins` is compared with the caller's word, so it only guards against mistakes. Requests
 * and answers have a name each in the API's document, because they differ there.
 */
export const DelegateExternal = z.strictObject({
  pay_to: z
    .union([z.literal('any'), z.array(SolanaAddress).min(1).max(50)])
    .meta({ description: 'Addresses that may be paid, or `any`' }),
  origins: z
    .array(
      z
        .string()
        .max(255)
        .regex(/^https?:\/\/[!-~]+$/, 'must be an origin, like https://api.example.com')
        .refine((text) => URL.parse(text)?.origin === text, {
          error: 'must be an origin, like https://api.example.com',
        })
        .meta({ examples: ['https://api.example.com'] }),
    )
    .min(1)
    .max(50)
    .nullable()
    .meta({ description: 'Null: any origin' }),
});
const OF_EXTERNAL = {
  description:
    'Payments to vendors of x402 that do not use Quittance. Null: none. Not together with allowed_service_ids',
};
const external = DelegateExternal.meta({ id: 'DelegateOutgoing' }).nullable().meta(OF_EXTERNAL);
const requestedExternal = DelegateExternal.meta({ id: 'DelegateOutgoingRequest' })
  .nullable()
  .meta(OF_EXTERNAL);
const approvalAbove = MicroUsdc.nullable().meta({
  description: 'A payment above this amount waits for the owner’s approval. Null: none does',
});

const ALLOWED = 'The only services that the key may pay. Null or omitted: any';
const delegateName = <T extends z.ZodType>(name: T): T =>
  name.meta({ description: 'A name for the owner', examples: ['Research agent'] });
const EXPIRY = { description: 'When the key ends. Null or omitted: never' };
const requestedExpiry = Moment.meta(EXPIRY);
export const Delegate = z
  .strictObject({
    delegate_id: DelegateId,
    name: delegateName(z.string()),
    wallet_id: WalletId,
    limits: DelegateLimits,
    usage: DelegateUsage.describe('How much of the limits is used'),
    allowed_service_ids: AllowedServices.nullable().meta({
      description: ALLOWED,
      examples: [null],
    }),
    external,
    approval_above: approvalAbove,
    expires_at: Timestamp.meta(EXPIRY).nullable(),
    status: z
      .enum(['active', 'paused', 'expired', 'revoked'])
      .describe(
        'paused: the owner has stopped its payments for now. expired: the key can no longer pay. revoked: it was deleted',
      ),
    revoked_at: Timestamp.nullable().describe(
      'When it was deleted and its keys were revoked. Null: it was not',
    ),
    created_at: createdAt,
  })
  .meta({ id: 'Delegate', description: 'A key with spending limits' });

/** In the far future, because an example must not expire. */
const FAR = '2099-12-31T00:00:00.000Z';
/** Of a request. `external` excludes allowed_service_ids. */
const EXAMPLE = {
  name: 'Research agent',
  limits: { per_payment: '500000', daily: '5000000' },
  external: {
    pay_to: ['Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u'],
    origins: ['https://api.example.com'],
  },
  approval_above: '1000000',
  expires_at: FAR,
};

const byId = z.strictObject({ delegate_id: DelegateId });

/** Delegates and their keys: part of identity's contract. */
export const delegateOperations = {
  createDelegate: operation({
    summary: 'Create a delegate and its key',
    description: 'The api_key is shown only in this answer.',
    journey: 'agent',
    http: { method: 'POST', path: '/v1/delegates', status: 201 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['delegate_created', 'key_created', 'external_allowed'],
    stepUp: true,
    fromDevice: DEVICE_DELEGATE,
    body: z
      .strictObject({
        name: delegateName(label(80, 'Research agent')),
        wallet_id: WalletId,
        limits: z
          .strictObject(byName(CAPS, (name) => caps[name].optional()))
          .describe('What the key may spend. An omitted limit does not exist'),
        allowed_service_ids: AllowedServices.optional().describe(ALLOWED),
        external: requestedExternal.optional(),
        approval_above: approvalAbove.optional(),
        expires_at: requestedExpiry.optional().meta({ examples: [FAR] }),
      })
      .meta({
        id: 'CreateDelegateRequest',
        examples: [{ ...EXAMPLE, wallet_id: 'wal_01kaj5w0c0e8h9x2m4n6p8q0rs' }],
      }),
    idempotency: { secret: 'api_key' },
    defaults: { external: null },
    output: shownOnce(
      Delegate,
      {
        api_key: z.string().meta({
          description: 'The key. It is shown only in this answer. Keep it secret',
          examples: ['dk_test_Zk3mQ9'],
        }),
      },
      'NewDelegate',
    ),
    errors: ['not_found'],
  }),
  listDelegates: operation({
    summary: 'List delegates',
    journey: 'read',
    http: { method: 'GET', path: '/v1/delegates', status: 200 },
    access: ['jwt'],
    query: z.strictObject({
      ...pageQuery,
      status: z
        .enum(['current', 'revoked'])
        .optional()
        .describe('current: those that are not revoked, which is the default. revoked: the deleted ones'),
    }),
    output: page(Delegate),
    errors: [],
  }),
  getOwnDelegate: operation({
    summary: 'Get the delegate of this key, with its limits and what is spent, held and remaining',
    journey: 'agent',
    http: { method: 'GET', path: '/v1/delegates/me', status: 200 },
    access: ['delegate_key'],
    output: Delegate,
    errors: ['not_found'],
  }),
  getDelegate: operation({
    summary: 'Get a delegate',
    journey: 'read',
    http: { method: 'GET', path: '/v1/delegates/:delegate_id', status: 200 },
    access: ['jwt'],
    params: byId,
    output: Delegate,
    errors: ['not_found'],
  }),
  updateDelegate: operation({
    summary: 'Change a delegate',
    description:
      'Null removes a limit. A limit that is lowered below what is held and spent makes `remaining` 0. It never undoes a payment.',
    journey: 'agent',
    http: { method: 'PATCH', path: '/v1/delegates/:delegate_id', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['delegate_widened', 'external_allowed'],
    params: byId,
    body: z
      .strictObject({
        name: delegateName(label(80, 'Research agent')),
        limits: DelegateLimits.partial().describe('The limits to change. Null removes one'),
        allowed_service_ids: AllowedServices.nullable().describe(ALLOWED),
        external: requestedExternal,
        approval_above: approvalAbove,
        expires_at: requestedExpiry.nullable().meta({ examples: [FAR] }),
        paused: z.boolean().meta({
          description:
            'true: its new payments are refused until it is false again. Accepted ones continue, and authorizations are ' +
            'closed: what was used of them is paid',
          examples: [false],
        }),
      })
      .partial()
      .meta({ id: 'UpdateDelegateRequest', examples: [EXAMPLE] }),
    output: Delegate,
    stepUp: {
      when: {
        'for a change that lets the key spend more, at other services, without approval, longer, or again after a pause':
          'delegate_widened',
        'at other vendors': 'external_allowed',
      },
    },
    fromDevice: 'served',
    errors: ['not_found', 'conflict'],
  }),
  deleteDelegate: operation({
    summary: 'Delete a delegate and revoke its keys immediately',
    description:
      'Its past payments remain. A payment that was accepted before is still carried out. Its authorizations are closed: ' +
      'what was used of them is paid.',
    journey: 'agent',
    http: { method: 'DELETE', path: '/v1/delegates/:delegate_id', status: 204 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    fromDevice: 'served',
    whenFrozen: 'served',
    params: byId,
    output: z.null(),
    errors: ['not_found'],
  }),
  rotateDelegateKey: operation({
    ...rotating,
    journey: 'agent',
    http: { method: 'POST', path: '/v1/delegates/:delegate_id/key/rotate', status: 200 },
    access: ['delegate_key', 'jwt'],
    authorisedBy: { delegate_key: 'current_key', jwt: 'step_up' },
    notes: ['key_rotated'],
    params: byId,
  }),
  revealDelegateKey: operation({
    ...revealing,
    journey: 'agent',
    http: { method: 'POST', path: '/v1/delegates/:delegate_id/key/reveal', status: 200 },
    authorisedBy: { jwt: 'step_up' },
    notes: ['key_reveal'],
    params: byId,
  }),
  verifyDelegateReveal: operation({
    ...verifyingReveal,
    journey: 'agent',
    http: { method: 'POST', path: '/v1/delegates/:delegate_id/key/reveal/verify', status: 200 },
    authorisedBy: { none: 'mailed_link' },
    params: byId,
  }),
};
