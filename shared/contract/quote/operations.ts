import { z } from 'zod';
import { extended } from '../extended.ts';
import {
  CompactToken,
  Currency,
  createdAt,
  feeAmount,
  MicroUsdc,
  page,
  pageQuery,
  QuoteId,
  quoteAmount,
  ServiceId,
  SettlementId,
  Timestamp,
} from '../primitives.ts';
import { operation } from '../service.ts';
import { CaptureTerms, captureWindow, unitPrice } from './capture.ts';
import { paymentLinkOperations } from './payment-links.ts';

const QuoteStatus = z.enum(['pending', 'settling', 'settled', 'expired']).meta({
  id: 'QuoteStatus',
  description:
    'pending: not paid. settling: a payment is under way for at least two seconds. settled: paid. expired: not paid in time',
});
/**
 * Arbitrary metadata, which the token signs. The bound of 4096 bytes applies to the signed JSON, so
 * the service checks it.
 */
export const Scope = z.record(z.string(), z.json()).meta({
  id: 'Scope',
  description:
    'What the quote is for: any JSON object, at most 4096 bytes, without the character U+0000. The token signs it. The key `payment_link` is that of payment links',
  examples: [{ resource: 'https://api.example.com/report' }],
});
const extendedQuote = QuoteId.meta({
  description: 'The quote of the authorization that this one extends. Only of an extension',
});
export const Quote = z
  .strictObject({
    quote_id: QuoteId,
    quote_token: CompactToken.describe('The signed quote. Give it to the payer'),
    quote_amount: quoteAmount,
    fee_amount: feeAmount,
    currency: Currency,
    expires_at: Timestamp.describe('Until when the quote can be paid'),
    status: QuoteStatus,
    max_amount: MicroUsdc.optional().describe(
      'The ceiling of what is captured, equal to `quote_amount`. Only of a quote with `capture`',
    ),
    capture: CaptureTerms.optional().describe('Absent: the whole amount is paid when the quote is settled'),
    extends: extendedQuote.optional(),
  })
  .meta({ id: 'Quote' });
export const QuoteRecord = extended(
  Quote,
  {
    service_id: ServiceId,
    redeem_window_seconds: z
      .int()
      .min(30)
      .max(604800)
      .meta({ description: 'Seconds to redeem the settlement, after it is paid', examples: [900] }),
    scope: Scope.nullable(),
    settlement_id: SettlementId.nullable().describe(
      'The settlement that pays the quote. Null: there is none',
    ),
    created_at: createdAt,
  },
  { id: 'QuoteRecord', description: 'A quote as its vendor reads it' },
);

/** How long a quote can be valid. */
export const LONGEST_QUOTE_SECONDS = 86_400;

/** The public operations of quote. */
export const operations = {
  create: operation({
    summary: 'Create a quote',
    description:
      'A quote is a signed price: amount, currency, expiry and scope. It can be paid at most once. With `capture`, the ' +
      'amount is a ceiling: the payer authorizes it, and pays what is captured.',
    journey: 'sell',
    http: { method: 'POST', path: '/v1/quote', status: 201 },
    access: ['service_key'],
    authorisedBy: 'nothing',
    idempotency: true,
    defaults: { currency: 'USDC', expires_in_seconds: 600, capture: 'automatic' },
    limits: [{ points: 30, windowSeconds: 60, per: 'account' }],
    body: z
      .strictObject({
        service_id: ServiceId,
        quote_amount: MicroUsdc.optional().meta({
          description: 'What the payer pays. Default: the price of the service',
        }),
        capture: z
          .enum(['automatic', 'manual', 'usage'])
          .optional()
          .meta({
            description:
              'When the payer pays. automatic: `quote_amount`, when the quote is settled. manual: what the vendor ' +
              'captures later, up to `max_amount`. usage: what the vendor reports as used, up to `max_amount`. ' +
              'Default automatic',
          }),
        max_amount: MicroUsdc.optional().meta({
          description:
            'The ceiling that the payer authorizes. Only with `capture` manual or usage, which require it',
        }),
        unit_price: unitPrice.optional(),
        capture_window_seconds: captureWindow.optional(),
        capture_threshold: MicroUsdc.optional().meta({
          description: 'Reported use that is captured at once. Only with `capture` usage',
          examples: ['1000000'],
        }),
        extends: QuoteId.optional().meta({
          description:
            'The quote of an open authorization: settling the new quote extends its ceiling by `max_amount`. Everything ' +
            'else stays as that quote has it, so send nothing of it',
        }),
        currency: Currency.optional(),
        expires_in_seconds: z
          .int()
          .min(1)
          .max(LONGEST_QUOTE_SECONDS)
          .optional()
          .meta({ description: 'Seconds until the quote expires. Default 600', examples: [600] }),
        redeem_window_seconds: z
          .int()
          .min(30)
          .max(604800)
          .optional()
          .meta({
            description:
              'Seconds to redeem the settlement, after it is paid. Default: those of the service, 900 unless changed',
            examples: [900],
          }),
        scope: Scope.optional(),
      })
      .meta({
        id: 'CreateQuoteRequest',
        examples: [
          {
            service_id: '0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17',
            quote_amount: '2500000',
            currency: 'USDC',
            expires_in_seconds: 600,
            redeem_window_seconds: 900,
            scope: { resource: 'https://api.example.com/report' },
          },
        ],
      }),
    output: Quote,
    errors: ['not_found', 'conflict', 'authorization_closed'],
  }),
  list: operation({
    summary: 'List quotes',
    journey: 'read',
    http: { method: 'GET', path: '/v1/quotes', status: 200 },
    access: ['service_key', 'jwt'],
    query: z.strictObject({
      ...pageQuery,
      service_id: ServiceId.optional().describe('Only quotes of this service'),
      status: QuoteStatus.optional().describe('Only quotes of this status'),
    }),
    output: page(QuoteRecord),
    errors: [],
  }),
  get: operation({
    summary: 'Get a quote',
    journey: 'read',
    http: { method: 'GET', path: '/v1/quotes/:quote_id', status: 200 },
    access: ['service_key', 'jwt'],
    params: z.strictObject({ quote_id: QuoteId }),
    output: QuoteRecord,
    errors: ['not_found'],
  }),
  ...paymentLinkOperations,
};
