import { z } from 'zod';
import {
  CompactToken,
  createdAt,
  Environment,
  label,
  MicroUsdc,
  PageHandle,
  PaymentLinkId,
  page,
  pageQuery,
  quoteAmount,
  ServiceId,
  SolanaAddress,
  Timestamp,
  WireTransaction,
} from '../primitives.ts';
import { operation } from '../service.ts';

/** The key of a quote's scope that only quotes of payment links have. */
export const LINK_KEY = 'payment_link';
/** What everybody who pays or shows such a quote reads of its scope. */
export const LinkScope = z.object({
  resource: z.string(),
  [LINK_KEY]: z.object({ payment_link_id: PaymentLinkId, memo: z.string() }),
});

/**
 * Where the buyer may go after the payment. Plain http is allowed for pages on the developer's
 * machine.
 */
const SuccessUrl = z
  .string()
  .max(1024)
  .regex(/^[^\s\p{Cc}]+$/u, 'must be a URL without spaces or control characters')
  .refine(
    (text) => {
      const url = URL.parse(text);
      if (url === null || url.username !== '' || url.password !== '') return false;
      const local = url.hostname === 'localhost' || url.hostname === '127.0.0.1';
      return url.protocol === 'https:' || (url.protocol === 'http:' && local);
    },
    { error: 'must be an https URL (http on localhost only) without credentials' },
  )
  .meta({
    description:
      'Where the page leads after the payment, with the parameter `quittance_settlement`. The buyer decides to follow',
    examples: ['https://shop.example.com/thanks'],
  });
const title = label(120, 'Ticket for the harbour tour').describe('What is sold, for the buyer');

const PaymentLinkStatus = z.enum(['active', 'paid', 'inactive']).meta({
  id: 'PaymentLinkStatus',
  description:
    'active: can be paid. paid: a link for one payment that was paid. inactive: it was deactivated',
});

export const PaymentLink = z
  .strictObject({
    payment_link_id: PaymentLinkId,
    service_id: ServiceId,
    url: z.string().meta({
      description: 'The page to give to buyers. Whoever has the address can pay',
      examples: ['https://api.example.com/pay/test/pl_01kaj5w0c0e8h9x2m4n6p8q0rs'],
    }),
    title,
    quote_amount: quoteAmount,
    single_use: z.boolean().describe('Whether it can be paid once only'),
    success_url: SuccessUrl.nullable(),
    status: PaymentLinkStatus,
    payments: z.int().min(0).describe('How many payments of it are confirmed'),
    created_at: createdAt,
    deactivated_at: Timestamp.nullable().describe('When it was deactivated. Null: it was not'),
  })
  .meta({ id: 'PaymentLink' });

const access = ['service_key', 'jwt'] as const;
const params = z.strictObject({ payment_link_id: PaymentLinkId });

/** A route of Solana Pay, which names in its path what the page knows. */
const solanaPay = <M extends 'GET' | 'POST'>(method: M) => ({
  http: {
    method,
    path: '/v1/payment-links/:payment_link_id/solana-pay/:environment/:handle' as const,
    status: 200 as const,
  },
  access: [] as const,
  environment: { field: 'environment' },
  limits: [{ points: 30, windowSeconds: 60, per: 'ip' as const }],
  dialect: 'solanaPay' as const,
  params: z.strictObject({
    payment_link_id: PaymentLinkId,
    environment: Environment.describe('The environment of the link'),
    handle: PageHandle,
  }),
});

/** The public operations about payment links (docs/adr/0075). */
export const paymentLinkOperations = {
  createPaymentLink: operation({
    summary: 'Create a payment link',
    description:
      'A link is one price with a title. Its page lets people pay with a wallet of the browser or with an account, and ' +
      'needs no server of yours. Each payment is a settlement of the service, and is redeemed when it is confirmed.',
    journey: 'sell',
    http: { method: 'POST', path: '/v1/payment-links', status: 201 },
    access,
    authorisedBy: 'nothing',
    idempotency: true,
    defaults: { single_use: false },
    body: z
      .strictObject({
        service_id: ServiceId,
        title,
        quote_amount: MicroUsdc.optional().meta({
          description: 'What each buyer pays. Default: the price of the service at this moment',
        }),
        single_use: z
          .boolean()
          .optional()
          .meta({
            description: 'Whether it can be paid once only. Default false',
            examples: [true],
          }),
        success_url: SuccessUrl.optional(),
      })
      .meta({ id: 'CreatePaymentLinkRequest' }),
    output: PaymentLink,
    errors: ['not_found', 'conflict'],
  }),
  listPaymentLinks: operation({
    summary: 'List payment links',
    journey: 'read',
    http: { method: 'GET', path: '/v1/payment-links', status: 200 },
    access,
    query: z.strictObject({
      ...pageQuery,
      service_id: ServiceId.optional().describe('Only links of this service'),
    }),
    output: page(PaymentLink),
    errors: [],
  }),
  getPaymentLink: operation({
    summary: 'Get a payment link',
    journey: 'read',
    http: { method: 'GET', path: '/v1/payment-links/:payment_link_id', status: 200 },
    access,
    params,
    output: PaymentLink,
    errors: ['not_found'],
  }),
  deactivatePaymentLink: operation({
    summary: 'Deactivate a payment link',
    description:
      'Its page offers no payment from now on. A page that is open already can pay for up to ten minutes. This is final.',
    journey: 'sell',
    http: { method: 'POST', path: '/v1/payment-links/:payment_link_id/deactivate', status: 200 },
    access,
    authorisedBy: 'nothing',
    repeatable: true,
    params,
    output: PaymentLink,
    errors: ['not_found'],
  }),
  openPaymentLink: operation({
    summary: 'Open a payment link',
    description:
      'Called by the page of the link. The answer is a signed quote of ten minutes, whose scope names the link.',
    journey: 'pay',
    http: { method: 'POST', path: '/v1/payment-links/:payment_link_id/quote', status: 200 },
    access: [],
    authorisedBy: 'nothing',
    repeatable: true,
    environment: { field: 'environment' },
    limits: [{ points: 30, windowSeconds: 60, per: 'ip' }],
    params,
    body: z
      .strictObject({
        environment: Environment.describe('The environment that the address of the page names'),
      })
      .meta({ id: 'OpenPaymentLinkRequest' }),
    output: z
      .strictObject({ quote_token: CompactToken.describe('The signed quote') })
      .meta({ id: 'OpenedPaymentLink' }),
    errors: ['not_found', 'conflict'],
  }),
  describePhonePayment: operation({
    summary: 'Who asks for a payment, for a wallet that has scanned the code of a payment link',
    description:
      'The first call of a transaction request of Solana Pay. The code of the page names this address: ' +
      '`solana:` and the address in percent-encoding.',
    journey: 'pay',
    ...solanaPay('GET'),
    output: z
      .strictObject({
        label: z.string().meta({ description: 'Who is paid', examples: ['City tours: Harbour tour'] }),
        icon: z.string().meta({
          description: 'The picture that the wallet shows',
          examples: ['https://api.example.com/favicon.svg'],
        }),
      })
      .meta({ id: 'PhonePaymentLabel' }),
    errors: ['not_found', 'conflict'],
  }),
  requestPhonePayment: operation({
    summary: 'The transaction that a wallet signs which has scanned the code of a payment link',
    description:
      'The second call of a transaction request of Solana Pay, for links of many payments. The payment is recorded, ' +
      'and then the fee payer signs. The wallet signs last, and sends the transaction itself within about a minute. ' +
      'Each call opens a quote of its own. One that is not paid leaves nothing.',
    journey: 'pay',
    ...solanaPay('POST'),
    authorisedBy: { none: 'wallet_signature' },
    repeatable: true,
    body: z
      .object({
        account: SolanaAddress.describe('The account that pays. Its token account needs the price in USDC'),
      })
      .meta({ id: 'RequestPhonePaymentRequest' }),
    output: z
      .strictObject({
        transaction: WireTransaction.describe('With the signature of the fee payer. The account signs last'),
        message: z
          .string()
          .meta({ description: 'What is paid for', examples: ['Harbour tour: 2.50 USDC to City tours'] }),
      })
      .meta({ id: 'RequestedPhonePayment' }),
    errors: ['not_found', 'conflict', 'insufficient_funds', 'payment_failed'],
    money: 'prepares',
    timeoutSeconds: 20,
  }),
};
