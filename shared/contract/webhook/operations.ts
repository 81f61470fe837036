import { z } from 'zod';
import { shownOnce } from '../idempotency.ts';
import { createdAt, EndpointId, EventId, label, Moment, page, pageQuery, Timestamp } from '../primitives.ts';
import { operation } from '../service.ts';

/**
 * Every event type that an account receives, by the status that its object has reached. There is no
 * `created` event for an object that a call creates, because the call's answer reports it.
 */
const EVENT_TYPES = [
  'quote.settling',
  'quote.settled',
  'quote.expired',
  'payment_link.paid',
  'settlement.authorized',
  'settlement.extended',
  'settlement.at_risk',
  'settlement.captured',
  'settlement.voided',
  'settlement.issued',
  'settlement.finalized',
  'settlement.redeemed',
  'settlement.expired',
  'settlement.failed',
  'settlement.reversed',
  'settlement.declined',
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
  'delegate.exhausted',
  'approval.requested',
  'approval.decided',
  'key.rotated',
  'key.revealed',
  'key.ended',
  'webhook.test',
] as const;
export const EventType = z
  .enum(EVENT_TYPES)
  .meta({ id: 'EventType', description: 'The object and what happened to it. There may be further ones' });
export type EventType = z.infer<typeof EventType>;
const GROUPS = [
  '*',
  'quote.*',
  'payment_link.*',
  'settlement.*',
  'refund.*',
  'withdrawal.*',
  'deposit.*',
  'delegate.*',
  'approval.*',
  'key.*',
] as const;
const Wanted = z
  .array(z.enum([...GROUPS, ...EVENT_TYPES]).meta({ id: 'EventTypePattern' }))
  .min(1)
  .max(50)
  .meta({ description: 'Types, groups like `settlement.*`, or `*` for all', examples: [['settlement.*']] });
export const Event = z
  .strictObject({
    event_id: EventId,
    type: EventType,
    object_id: z.string().meta({
      description:
        'The object of the event: a quote, settlement, decline, refund, withdrawal, deposit, delegate or service',
      examples: ['stl_01kaj5w0c0e8h9x2m4n6p8q0rs'],
    }),
    created_at: Timestamp.describe('When it happened'),
    data: z.record(z.string(), z.json()).meta({
      description:
        'A refund, withdrawal or deposit has the fields of its GET. A settlement has ids, amounts and `role`, the ' +
        'account’s role in it: `payer` or `vendor`. A decline has the fields of GET /v1/declines and `role`. The data ' +
        'never contain a token or a key.',
      examples: [{ settlement_id: 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs', role: 'vendor' }],
    }),
  })
  .meta({ id: 'Event', description: 'Stored for 30 days' });
const EndpointUrl = z
  .string()
  .max(2048)
  // Characters that a URL parser would drop. The stored and shown URL must be the one that is
  // called.
  .regex(/^[^\s\p{Cc}]+$/u, 'must be a URL without spaces or control characters')
  .refine(
    (text) => {
      const url = URL.parse(text);
      return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
    },
    { error: 'must be an https URL without credentials' },
  )
  .meta({
    description: 'An https URL with a public address, port 443 or from 1024. Redirects are not followed',
    examples: ['https://api.example.com/quittance'],
  });
const settings = {
  url: EndpointUrl,
  description: label(200, 'Order service').nullable().describe('A note for the owner'),
  event_types: Wanted,
  enabled: z.boolean().meta({ description: 'Whether events are delivered', examples: [true] }),
};
export const Endpoint = z
  .strictObject({
    endpoint_id: EndpointId,
    ...settings,
    disabled_reason: z.enum(['owner', 'failing', 'gone']).nullable().meta({
      description:
        'owner: disabled by PATCH. failing: every attempt failed for five days. gone: the endpoint answered 410',
    }),
    failing_since: Timestamp.nullable().meta({
      description: 'When the first failure since the last success was',
    }),
    previous_secret_expires_at: Timestamp.nullable().meta({
      description: 'Until then deliveries are also signed with the previous secret',
    }),
    created_at: createdAt,
  })
  .meta({ id: 'WebhookEndpoint' });
const Secret = z.string().meta({
  description: 'Shown only in this answer, in the format of standardwebhooks.com',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
});
const SecretRotation = z
  .strictObject({
    previous_secret_expires_at: Timestamp.describe(
      'Until then deliveries are also signed with the previous secret',
    ),
  })
  .meta({ id: 'WebhookSecretRotation' });
/** Why an attempt failed, besides its HTTP status. */
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
export const Attempt = z
  .strictObject({
    at: Timestamp.describe('When it was made'),
    status_code: z
      .int()
      .nullable()
      .meta({ description: 'HTTP status of the answer. Null: there was none', examples: [200] }),
    error: DeliveryError.nullable().describe('Why it failed. Null: it succeeded'),
    duration_ms: z
      .int()
      .min(0)
      .meta({ description: 'Milliseconds until the answer or the failure', examples: [84] }),
    response: z
      .string()
      .nullable()
      .meta({ description: 'The beginning of the answer’s body, at most 200 characters', examples: ['ok'] }),
  })
  .meta({ id: 'DeliveryAttempt' });
export type Attempt = z.infer<typeof Attempt>;
const DeliveryStatus = z.enum(['pending', 'delivered', 'failed']).meta({
  id: 'DeliveryStatus',
  description: 'pending: a further attempt follows. failed: none follows',
});
export const Delivery = z
  .strictObject({
    event_id: EventId,
    type: EventType,
    status: DeliveryStatus,
    attempts: z.array(Attempt).meta({ description: 'The last 16 attempts, oldest first' }),
    next_attempt_at: Timestamp.nullable().describe('When the next attempt is made. Null: none'),
    created_at: createdAt,
  })
  .meta({ id: 'WebhookDelivery' });
const byId = z.strictObject({ endpoint_id: EndpointId });
/** Maximum number of endpoints of one account. */
export const MAX_ENDPOINTS = 10;
/** Maximum number of events of one call of redeliver. */
export const MAX_REDELIVERED = 10_000;

/** The public operations of webhook. */
export const operations = {
  createEndpoint: operation({
    summary: 'Create a webhook endpoint',
    description:
      'Events are POSTed to it as JSON `{ id, type, timestamp, data }`, signed as Standard Webhooks specify ' +
      '(webhook-id, webhook-timestamp, webhook-signature); `id` is the event_id, which identifies a repeat. A 2xx ' +
      'answer within 15 s acknowledges the event. Otherwise delivery is attempted 8 times over three days. ' +
      'Delivery is at least once, in no guaranteed order. ' +
      `An account has at most ${MAX_ENDPOINTS} endpoints.`,
    journey: 'sell',
    http: { method: 'POST', path: '/v1/webhook-endpoints', status: 201 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['endpoint_created'],
    stepUp: true,
    timeoutSeconds: 10,
    body: z
      .strictObject({
        url: settings.url,
        description: label(200, 'Order service').optional().describe('A note for the owner'),
        event_types: Wanted.optional().meta({ description: 'Default all: `["*"]`' }),
      })
      .meta({ id: 'CreateWebhookEndpointRequest' }),
    idempotency: { secret: 'secret' },
    defaults: { event_types: ['*'] },
    output: shownOnce(Endpoint, { secret: Secret }, 'NewWebhookEndpoint'),
    errors: ['conflict'],
  }),
  listEndpoints: operation({
    summary: 'List webhook endpoints',
    journey: 'read',
    http: { method: 'GET', path: '/v1/webhook-endpoints', status: 200 },
    access: ['jwt'],
    query: z.strictObject(pageQuery),
    output: page(Endpoint),
    errors: [],
  }),
  getEndpoint: operation({
    summary: 'Get a webhook endpoint',
    journey: 'read',
    http: { method: 'GET', path: '/v1/webhook-endpoints/:endpoint_id', status: 200 },
    access: ['jwt'],
    params: byId,
    output: Endpoint,
    errors: ['not_found'],
  }),
  updateEndpoint: operation({
    summary: 'Change a webhook endpoint',
    description:
      'An endpoint that is enabled again gets the pending deliveries. Use redeliver for events of the time while it was disabled.',
    journey: 'sell',
    http: { method: 'PATCH', path: '/v1/webhook-endpoints/:endpoint_id', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['endpoint_changed'],
    stepUp: { when: { 'for another url': 'endpoint_changed' } },
    timeoutSeconds: 10,
    params: byId,
    body: z.strictObject(settings).partial().meta({ id: 'UpdateWebhookEndpointRequest' }),
    output: Endpoint,
    errors: ['not_found'],
  }),
  deleteEndpoint: operation({
    summary: 'Delete a webhook endpoint with its log',
    journey: 'sell',
    http: { method: 'DELETE', path: '/v1/webhook-endpoints/:endpoint_id', status: 204 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['endpoint_deleted'],
    stepUp: true,
    params: byId,
    output: z.null(),
    errors: ['not_found'],
  }),
  rotateEndpointSecret: operation({
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'For 24 hours deliveries are signed with both secrets, then only with the new one. A further rotation revokes the older one.',
    journey: 'sell',
    http: { method: 'POST', path: '/v1/webhook-endpoints/:endpoint_id/secret/rotate', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['endpoint_secret_rotated'],
    stepUp: true,
    params: byId,
    bodyOptional: true,
    idempotency: { secret: 'secret' },
    output: shownOnce(SecretRotation, { secret: Secret }, 'RotatedWebhookSecret'),
    errors: ['not_found'],
  }),
  listDeliveries: operation({
    summary: 'List the deliveries to a webhook endpoint',
    journey: 'read',
    http: { method: 'GET', path: '/v1/webhook-endpoints/:endpoint_id/deliveries', status: 200 },
    access: ['jwt'],
    params: byId,
    query: z.strictObject({
      ...pageQuery,
      status: DeliveryStatus.optional().describe('Only deliveries of this status'),
    }),
    output: page(Delivery),
    errors: ['not_found'],
  }),
  redeliver: operation({
    summary: 'Deliver one event, or all events since a time, again',
    description: `Name event_id or since. With since: the events of the endpoint’s event types, including those that it never received, at most ${MAX_REDELIVERED}, the oldest first.`,
    journey: 'sell',
    http: { method: 'POST', path: '/v1/webhook-endpoints/:endpoint_id/redeliver', status: 200 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    limits: [{ points: 10, windowSeconds: 60, per: 'account' }],
    params: byId,
    body: z
      .strictObject({
        event_id: EventId.optional().meta({ description: 'Deliver this event, of any type' }),
        since: Moment.optional().meta({
          description: 'Deliver the events since this time',
        }),
      })
      .meta({ id: 'RedeliverRequest' }),
    output: z
      .strictObject({
        redelivering: z
          .int()
          .min(0)
          .meta({ description: 'Number of events that are delivered again', examples: [3] }),
      })
      .meta({ id: 'Redelivery' }),
    errors: ['not_found', 'conflict'],
  }),
  testEndpoint: operation({
    summary: 'Send a test event to a webhook endpoint',
    journey: 'sell',
    http: { method: 'POST', path: '/v1/webhook-endpoints/:endpoint_id/test', status: 200 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    fromDevice: 'served',
    limits: [{ points: 10, windowSeconds: 60, per: 'account' }],
    params: byId,
    bodyOptional: true,
    output: Event,
    errors: ['not_found', 'conflict'],
  }),
  listEvents: operation({
    summary: 'List events, as an alternative to webhooks',
    description: 'Newest first. Events are stored for 30 days.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/events', status: 200 },
    access: ['jwt'],
    query: z.strictObject({
      ...pageQuery,
      type: EventType.optional().describe('Only events of this type'),
      object_id: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be an id')
        .optional()
        .meta({ description: 'Only events of this object', examples: ['stl_01kaj5w0c0e8h9x2m4n6p8q0rs'] }),
    }),
    output: page(Event),
    errors: [],
  }),
  getEvent: operation({
    summary: 'Get an event',
    journey: 'read',
    http: { method: 'GET', path: '/v1/events/:event_id', status: 200 },
    access: ['jwt'],
    params: z.strictObject({ event_id: EventId }),
    output: Event,
    errors: ['not_found'],
  }),
};
