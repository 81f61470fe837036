import { z } from 'zod';
import { operatorOperations } from './operator.ts';
import {
  AccountId,
  CompactToken,
  Currency,
  MicroUsdc,
  MicroUsdcOrZero,
  page,
  pageQuery,
  QuoteId,
  ServiceId,
  SettlementId,
  Timestamp,
} from './primitives.ts';
import { internalOperation, operation, service } from './service.ts';

const QuoteStatus = z.enum(['pending', 'settling', 'settled', 'expired']).meta({ id: 'QuoteStatus' });

/** Arbitrary metadata, signed into the token. The 4096-byte bound is on the JSON that is signed, so the service checks it. */
export const Scope = z.record(z.string(), z.json()).meta({
  id: 'Scope',
  description: 'JSON object, at most 4096 bytes',
  examples: [{ resource: 'https://api.example.com/report' }],
});

const Quote = z
  .strictObject({
    quote_id: QuoteId,
    quote_token: CompactToken,
    quote_amount: MicroUsdc,
    fee_amount: MicroUsdcOrZero,
    currency: Currency,
    expires_at: Timestamp,
    status: QuoteStatus,
  })
  .meta({ id: 'Quote' });

export const QuoteRecord = z
  .strictObject({
    ...Quote.shape,
    service_id: ServiceId,
    redeem_window_seconds: z
      .int()
      .min(30)
      .max(604800)
      .meta({ examples: [900] }),
    scope: Scope.nullable(),
    settlement_id: SettlementId.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'QuoteRecord', description: 'A quote as its vendor reads it back' });

/** What stands in the way of a service's end; `ends_at` is null where there was never anything. */
export const Activity = z.strictObject({ open: z.boolean(), ends_at: Timestamp.nullable() });

export const quote = service({
  name: 'quote',
  operations: {
    create: operation({
      summary: 'Create a quote',
      description: 'A signed pricing commitment: amount, currency, expiry, scope. Paid at most once.',
      http: { method: 'POST', path: '/v1/quote', status: 201 },
      access: ['service_key'],
      idempotency: true,
      limits: [{ points: 30, windowSeconds: 60, per: 'account' }],
      body: z.strictObject({
        service_id: ServiceId,
        quote_amount: MicroUsdc.optional().meta({ description: 'Defaults to the price of the service' }),
        currency: Currency.optional(),
        expires_in_seconds: z
          .int()
          .min(1)
          .max(86400)
          .optional()
          .meta({ description: 'Default 600', examples: [600] }),
        redeem_window_seconds: z
          .int()
          .min(30)
          .max(604800)
          .optional()
          .meta({ description: "Default: the service's, which is 900 unless changed", examples: [900] }),
        scope: Scope.optional(),
      }),
      output: Quote,
      errors: ['not_found', 'conflict'],
    }),
    list: operation({
      summary: 'List quotes',
      http: { method: 'GET', path: '/v1/quotes', status: 200 },
      access: ['service_key', 'jwt'],
      query: z.strictObject({
        ...pageQuery,
        service_id: ServiceId.optional(),
        status: QuoteStatus.optional(),
      }),
      output: page(QuoteRecord),
      errors: [],
    }),
    get: operation({
      summary: 'Get a quote',
      http: { method: 'GET', path: '/v1/quotes/:quote_id', status: 200 },
      access: ['service_key', 'jwt'],
      params: z.strictObject({ quote_id: QuoteId }),
      output: QuoteRecord,
      errors: ['not_found'],
    }),
  },
  internal: {
    ...operatorOperations,
    getQuoteActivity: internalOperation({
      summary: 'Whether quotes of a service can still be paid, and when the last one ends',
      callers: ['identity'],
      input: z.strictObject({ service_id: ServiceId }),
      output: Activity,
    }),
  },
  events: {
    /** Told once, when settlement has said that nobody paid it and nobody can any more: five minutes after its end. */
    expired: z.strictObject({
      quote_id: QuoteId,
      account_id: AccountId,
      service_id: ServiceId,
      quote_amount: MicroUsdc,
      fee_amount: MicroUsdcOrZero,
      expires_at: Timestamp,
    }),
  },
  jobs: {},
  consumes: ['settlement.accepted', 'settlement.issued', 'settlement.failed'],
});
