import { z } from 'zod';
import {
  createdAt,
  DepositId,
  Environment,
  MicroUsdc,
  page,
  pageQuery,
  RawBody,
  Timestamp,
  TransactionHash,
  WalletId,
} from '../primitives.ts';
import { operation } from '../service.ts';

/** A provider that sells USDC for money from a bank or card. */
export const OnrampProvider = z
  .enum(['moonpay', 'coinbase'])
  .meta({ id: 'OnrampProvider', description: 'Who sells the USDC: MoonPay or Coinbase Onramp' });
export type OnrampProvider = z.infer<typeof OnrampProvider>;

export const DepositStatus = z
  .enum([
    'created',
    'awaiting_payment',
    'processing',
    'settling',
    'completed',
    'failed',
    'cancelled',
    'expired',
  ])
  .meta({
    id: 'DepositStatus',
    description:
      'settling: the provider reports that it has sent the USDC. completed: the transfer is finalized on chain',
  });
export type DepositStatus = z.infer<typeof DepositStatus>;

/** An amount of fiat money as decimal text, never a float. */
const FiatAmount = z
  .string()
  .regex(
    /^(?!0+(\.0*)?$)(0|[1-9][0-9]{0,6})(\.[0-9]{1,2})?$/,
    'must be decimal digits with at most two decimals',
  )
  .meta({
    id: 'FiatAmount',
    description: 'Amount in the fiat currency, including the provider’s fees',
    examples: ['50.00'],
  });
const FiatCurrency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code')
  .meta({ id: 'FiatCurrency', description: 'ISO 4217', examples: ['USD'] });

/**
 * Where the browser is sent after the payment. Plain http is allowed for pages on the developer's
 * machine.
 */
const RedirectUrl = z
  .string()
  .max(2048)
  .refine(
    (text) => {
      const url = URL.parse(text);
      if (url === null || url.username !== '' || url.password !== '') return false;
      const local = url.hostname === 'localhost' || url.hostname === '127.0.0.1';
      return url.protocol === 'https:' || (url.protocol === 'http:' && local);
    },
    { error: 'must be an https URL (http on localhost only) without credentials' },
  );

export const Deposit = z
  .strictObject({
    deposit_id: DepositId,
    status: DepositStatus,
    wallet_id: WalletId,
    provider: OnrampProvider,
    fiat_currency: FiatCurrency,
    fiat_amount: FiatAmount,
    amount: MicroUsdc.nullable().meta({
      description: 'The provider’s estimate, and after completion the amount that arrived',
    }),
    redirect_url: z
      .string()
      .nullable()
      .meta({
        description: 'The provider’s payment page, for the customer’s browser',
        examples: ['https://buy.moonpay.com/?signature=Zk3mQ9'],
      }),
    tx_hash: TransactionHash.nullable().meta({ description: 'The transfer on chain, null until it is seen' }),
    problem: z
      .strictObject({
        code: z.string().describe('What happened, for programs'),
        message: z.string().describe('What happened, for people'),
      })
      .meta({ id: 'DepositProblem' })
      .nullable()
      .meta({
        description: 'Why it failed, or what keeps a settling deposit from completing',
        examples: [null],
      }),
    created_at: createdAt,
    expires_at: Timestamp.meta({ description: 'When the deposit expires if it is not paid' }),
    completed_at: Timestamp.nullable().describe('When the USDC had arrived, finally. Null: not yet'),
  })
  .meta({ id: 'Deposit' });

export const deposits = {
  createDeposit: operation({
    summary: 'Buy USDC with money from a bank or card',
    description:
      'Opens a payment at MoonPay or Coinbase Onramp. The provider sends the USDC directly to the wallet. Send ' +
      'the customer’s browser to `redirect_url`. The deposit completes when the transfer is finalized on chain.',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/deposits/fiat', status: 201 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    idempotency: true,
    limits: [{ points: 5, windowSeconds: 60, per: 'account' }],
    timeoutSeconds: 15,
    body: z
      .strictObject({
        wallet_id: WalletId,
        provider: OnrampProvider,
        fiat_currency: FiatCurrency,
        fiat_amount: FiatAmount,
        redirect_url: RedirectUrl.optional().meta({
          description: 'Where the browser is sent after the payment',
          examples: ['https://shop.example.com/thanks'],
        }),
      })
      .meta({ id: 'CreateDepositRequest' }),
    output: Deposit,
    errors: ['not_found', 'conflict'],
  }),
  listDeposits: operation({
    summary: 'List deposits',
    journey: 'read',
    http: { method: 'GET', path: '/v1/deposits', status: 200 },
    access: ['jwt'],
    query: z.strictObject({
      ...pageQuery,
      status: DepositStatus.optional().describe('Only deposits of this status'),
      wallet_id: WalletId.optional().describe('Only deposits into this wallet'),
    }),
    output: page(Deposit),
    errors: [],
  }),
  getDeposit: operation({
    summary: 'Get a deposit',
    journey: 'read',
    http: { method: 'GET', path: '/v1/deposits/:deposit_id', status: 200 },
    access: ['jwt'],
    params: z.strictObject({ deposit_id: DepositId }),
    output: Deposit,
    errors: ['not_found'],
  }),
  providerWebhook: operation({
    summary: 'Receive a provider’s report of a payment',
    description:
      'For MoonPay and Coinbase only, which sign the bytes of the body. Repeated and out-of-order reports are ' +
      'answered with 200 and change nothing. No report completes a deposit: only the transfer on chain does.',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/providers/:provider/:environment/webhook', status: 200 },
    access: [],
    authorisedBy: 'nothing',
    environment: { field: 'environment' },
    limits: [{ points: 600, windowSeconds: 60, per: 'ip' }],
    // Providers give up after 5 s and send the report again.
    timeoutSeconds: 4,
    params: z.strictObject({
      provider: OnrampProvider,
      environment: Environment.describe('The environment of the deposit'),
    }),
    rawBody: true,
    body: RawBody,
    output: z
      .strictObject({ received: z.literal(true).describe('The report is stored') })
      .meta({ id: 'ProviderReportReceived' }),
    errors: ['unauthorized', 'not_found'],
  }),
};
