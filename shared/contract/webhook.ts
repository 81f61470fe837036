import { z } from 'zod';
import { shownOnce } from './idempotency.ts';
import { operatorOperations } from './operator.ts';
import { AccountId, EndpointId, EventId, label, Moment, page, pageQuery, Timestamp } from './primitives.ts';
import { operation, service } from './service.ts';

/**
 * Everything that an account is told, by the status that its object has come to. There is no `created` of what a call
 * creates: its answer says so (docs/adr/0016).
 */
const EVENT_TYPES = [
  'quote.settling',
  'quote.settled',
  'quote.expired',
  'settlement.issued',
  'settlement.finalized',
  'settlement.redeemed',
  'settlement.expired',
  'settlement.failed',
  'settlement.reversed',
  'refund.submitted',
  'refund.confirmed',
  'refund.finalized',
  'refund.failed',
  'refund.cancelled',
  'refund.expired',
  'withdrawal.submitted',
  'withdrawal.confirmed',
  'withdrawal.finalized',
  'withdrawal.failed',
  'withdrawal.cancelled',
  'withdrawal.expired',
  'deposit.awaiting_payment',
  'deposit.processing',
  'deposit.settling',
  'deposit.completed',
  'deposit.failed',
  'deposit.cancelled',
  'deposit.expired',
  'delegate.created',
  'delegate.updated',
  'delegate.deleted',
  'key.rotated',
  'key.revealed',
  'key.ended',
  'webhook.test',
] as const;
export const EventType = z.enum(EVENT_TYPES).meta({ id: 'EventType' });
export type EventType = z.infer<typeof EventType>;

const GROUPS = [
  '*',
  'quote.*',
  'settlement.*',
  'refund.*',
  'withdrawal.*',
  'deposit.*',
  'delegate.*',
  'key.*',
] as const;
const Wanted = z
  .array(z.enum([...GROUPS, ...EVENT_TYPES]))
  .min(1)
  .max(50)
  .meta({ description: 'Types, groups like `settlement.*`, or `*` for all', examples: [['settlement.*']] });

export const Event = z
  .strictObject({
    event_id: EventId,
    type: EventType,
    object_id: z.string().meta({
      description: 'What it is about: a quote, settlement, refund, withdrawal, deposit, delegate or service',
      examples: ['stl_01kaj5w0c0e8h9x2m4n6p8q0rs'],
    }),
    created_at: Timestamp,
    data: z.record(z.string(), z.json()).meta({
      description:
        'Refunds, withdrawals and deposits as their GET shows them. Of a settlement ids, amounts and `role`, as whom ' +
        'the account is told: `payer` or `vendor`. Never a token or a key.',
      examples: [{ settlement_id: 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs', role: 'vendor' }],
    }),
  })
  .meta({ id: 'Event', description: 'Kept for 30 days' });

const EndpointUrl = z
  .string()
  .max(2048)
  // What a URL parser would leave out: what is saved, and shown, is what is sent to.
  .regex(/^[^\s\p{Cc}]+$/u, 'must be a URL without spaces or control characters')
  .refine(
    (text) => {
      const url = URL.parse(text);
      return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
    },
    { error: 'must be an https URL without credentials' },
  )
  .meta({
    description: 'https, on a public address, port 443 or 1024 and up. Redirects are not followed',
    examples: ['https://api.example.com/quittance'],
  });

const settings = {
  url: EndpointUrl,
  description: label(200, 'Order service').nullable(),
  event_types: Wanted,
  enabled: z.boolean().meta({ examples: [true] }),
};

export const Endpoint = z
  .strictObject({
    endpoint_id: EndpointId,
    ...settings,
    disabled_reason: z.enum(['owner', 'failing', 'gone']).nullable().meta({
      description: 'owner: by PATCH. failing: five days of nothing but failures. gone: it answered 410',
    }),
    failing_since: Timestamp.nullable().meta({
      description: 'Of the first failure since the last success',
    }),
    previous_secret_expires_at: Timestamp.nullable().meta({
      description: 'Until then deliveries are signed with the secret before the rotation too',
    }),
    created_at: Timestamp,
  })
  .meta({ id: 'WebhookEndpoint' });

const Secret = z.string().meta({
  description: 'Shown this once. For the libraries of standardwebhooks.com',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
});

/** Why a try failed where no status says it. */
export const DELIVERY_ERRORS = [
  'timeout',
  'unreachable',
  'not_resolved',
  'address_refused',
  'tls',
  'redirect',
  'status',
] as const;
export const DeliveryError = z.enum(DELIVERY_ERRORS);
export type DeliveryError = z.infer<typeof DeliveryError>;

const Attempt = z.strictObject({
  at: Timestamp,
  status_code: z
    .int()
    .nullable()
    .meta({ examples: [200] }),
  error: DeliveryError.nullable(),
  duration_ms: z
    .int()
    .min(0)
    .meta({ examples: [84] }),
  response: z
    .string()
    .nullable()
    .meta({ description: 'The beginning of the answer, at most 200 characters' }),
});
export type Attempt = z.infer<typeof Attempt>;

const DeliveryStatus = z.enum(['pending', 'delivered', 'failed']).meta({ id: 'DeliveryStatus' });

export const Delivery = z
  .strictObject({
    event_id: EventId,
    type: EventType,
    status: DeliveryStatus,
    attempts: z.array(Attempt).meta({ description: 'In their order, the last 16' }),
    next_attempt_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'WebhookDelivery' });

const byId = z.strictObject({ endpoint_id: EndpointId });

/** Of one account. */
export const MAX_ENDPOINTS = 10;
/** Of one call of redeliver. */
export const MAX_REDELIVERED = 10_000;

export const webhook = service({
  name: 'webhook',
  operations: {
    createEndpoint: operation({
      summary: 'Create a webhook endpoint',
      description:
        'Events are POSTed to it as JSON `{ id, type, timestamp, data }`, signed as Standard Webhooks say ' +
        '(webhook-id, webhook-timestamp, webhook-signature); `id` is the event_id, so a repeat is known by it. Any 2xx within ' +
        '15 s takes the event; else it is tried 8 times over three days. At least once, in no certain order. ' +
        `Needs a sign-in of the last 5 minutes; at most ${MAX_ENDPOINTS} per account.`,
      http: { method: 'POST', path: '/v1/webhook-endpoints', status: 201 },
      access: ['jwt'],
      stepUp: true,
      timeoutSeconds: 10,
      body: z.strictObject({
        url: settings.url,
        description: label(200, 'Order service').optional(),
        event_types: Wanted.optional().meta({ description: 'Default all: `["*"]`' }),
      }),
      idempotency: { secret: 'secret' },
      output: shownOnce(Endpoint.shape, { secret: Secret }),
      errors: ['conflict'],
    }),
    listEndpoints: operation({
      summary: 'List webhook endpoints',
      http: { method: 'GET', path: '/v1/webhook-endpoints', status: 200 },
      access: ['jwt'],
      query: z.strictObject(pageQuery),
      output: page(Endpoint),
      errors: [],
    }),
    getEndpoint: operation({
      summary: 'Get a webhook endpoint',
      http: { method: 'GET', path: '/v1/webhook-endpoints/:endpoint_id', status: 200 },
      access: ['jwt'],
      params: byId,
      output: Endpoint,
      errors: ['not_found'],
    }),
    updateEndpoint: operation({
      summary: 'Change a webhook endpoint',
      description:
        'Turned on again, it gets what was still to be delivered; what happened while it was off: redeliver.',
      http: { method: 'PATCH', path: '/v1/webhook-endpoints/:endpoint_id', status: 200 },
      access: ['jwt'],
      stepUp: { when: 'for another url' },
      timeoutSeconds: 10,
      params: byId,
      body: z.strictObject(settings).partial(),
      output: Endpoint,
      errors: ['not_found'],
    }),
    deleteEndpoint: operation({
      summary: 'Delete a webhook endpoint with its log',
      http: { method: 'DELETE', path: '/v1/webhook-endpoints/:endpoint_id', status: 204 },
      access: ['jwt'],
      params: byId,
      output: z.null(),
      errors: ['not_found'],
    }),
    rotateEndpointSecret: operation({
      summary: 'Rotate the secret of a webhook endpoint',
      description:
        'For 24 hours deliveries are signed with both, then with the new one alone. A further rotation ends the older.',
      http: { method: 'POST', path: '/v1/webhook-endpoints/:endpoint_id/secret/rotate', status: 200 },
      access: ['jwt'],
      stepUp: true,
      params: byId,
      bodyOptional: true,
      idempotency: { secret: 'secret' },
      output: shownOnce({ previous_secret_expires_at: Timestamp }, { secret: Secret }),
      errors: ['not_found'],
    }),
    listDeliveries: operation({
      summary: 'What was delivered to a webhook endpoint, and how',
      http: { method: 'GET', path: '/v1/webhook-endpoints/:endpoint_id/deliveries', status: 200 },
      access: ['jwt'],
      params: byId,
      query: z.strictObject({ ...pageQuery, status: DeliveryStatus.optional() }),
      output: page(Delivery),
      errors: ['not_found'],
    }),
    redeliver: operation({
      summary: 'Deliver one event, or all since a time, once more',
      description: `Of those that the endpoint asks for, also what it never got; at most ${MAX_REDELIVERED}, the oldest first.`,
      http: { method: 'POST', path: '/v1/webhook-endpoints/:endpoint_id/redeliver', status: 200 },
      access: ['jwt'],
      limits: [{ points: 10, windowSeconds: 60, per: 'account' }],
      params: byId,
      body: z.strictObject({
        event_id: EventId.optional().meta({ description: 'This event, or' }),
        since: Moment.optional().meta({ description: 'all that are not older than this' }),
      }),
      output: z.strictObject({
        redelivering: z
          .int()
          .min(0)
          .meta({ examples: [3] }),
      }),
      errors: ['not_found', 'conflict'],
    }),
    testEndpoint: operation({
      summary: 'Send a test event to a webhook endpoint',
      http: { method: 'POST', path: '/v1/webhook-endpoints/:endpoint_id/test', status: 200 },
      access: ['jwt'],
      limits: [{ points: 10, windowSeconds: 60, per: 'account' }],
      params: byId,
      bodyOptional: true,
      output: Event,
      errors: ['not_found', 'conflict'],
    }),
    listEvents: operation({
      summary: 'List events: the pull form of webhooks',
      description: 'Newest first, kept for 30 days.',
      http: { method: 'GET', path: '/v1/events', status: 200 },
      access: ['jwt'],
      query: z.strictObject({
        ...pageQuery,
        type: EventType.optional(),
        object_id: z
          .string()
          .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be an id')
          .optional()
          .meta({ examples: ['stl_01kaj5w0c0e8h9x2m4n6p8q0rs'] }),
      }),
      output: page(Event),
      errors: [],
    }),
    getEvent: operation({
      summary: 'Get an event',
      http: { method: 'GET', path: '/v1/events/:event_id', status: 200 },
      access: ['jwt'],
      params: z.strictObject({ event_id: EventId }),
      output: Event,
      errors: ['not_found'],
    }),
  },
  internal: { ...operatorOperations },
  events: {
    /** An endpoint gets nothing any more, and its owner did not turn it off. */
    endpointDisabled: z.strictObject({
      account_id: AccountId,
      endpoint_id: EndpointId,
      /** Of its URL, which may have a secret in its path. */
      host: z.string().max(256),
      reason: z.enum(['failing', 'gone']),
      at: Timestamp,
    }),
  },
  jobs: {},
  consumes: [
    'quote.expired',
    'settlement.accepted',
    'settlement.issued',
    'settlement.finalized',
    'settlement.failed',
    'settlement.reversed',
    'settlement.redeemed',
    'settlement.expired',
    'funding.withdrawalChanged',
    'funding.refundChanged',
    'funding.depositChanged',
    'identity.delegateChanged',
    'identity.keyChanged',
  ],
});
