import { z } from 'zod';
import {
  CompactToken,
  Environment,
  PageSecret,
  PaymentLinkId,
  SettlementId,
  TransactionHash,
  WireTransaction,
} from '../primitives.ts';
import { operation } from '../service.ts';
import { PendingIncoming } from './incoming.ts';

const Paid = z
  .strictObject({
    settlement_id: SettlementId,
    status: z.literal('confirmed').describe('The payment is on chain'),
    tx_hash: TransactionHash.describe('The transaction on chain'),
    receipt_url: z
      .string()
      .nullable()
      .meta({
        description: 'The page of the signed receipt. Null: it cannot be made at the moment; repeat the call',
        examples: ['https://api.example.com/receipt#eyJhbGciOiJFZERTQSJ9.e30.c2ln'],
      }),
  })
  .meta({ id: 'PaidPaymentLink' });
const PhonePayment = z
  .strictObject({
    status: z.enum(['waiting', 'pending', 'failed']).meta({
      id: 'PhonePaymentStatus',
      description:
        'waiting: no phone has scanned the code, or its wallet did not sign in time. pending: a wallet has the ' +
        'transaction. failed: the chain refused it, and no money moved',
    }),
  })
  .meta({ id: 'PhonePayment' });
/** The payment of a payment link by a wallet (docs/adr/0075). */
export const paymentLinkOperations = {
  payLink: operation({
    summary: 'Pay the quote of a payment link with a transaction that a wallet has signed',
    description:
      'Called by the page of the link. The transaction transfers the amount of the quote to its payout address, with ' +
      'the memo of the quote, and leaves the signature of the fee payer empty. It is signed only after the payment ' +
      'is recorded as the one payment of its quote. A repeat never pays twice. After 202, repeat the call. Only calls ' +
      'with the secret of the first one are told what was paid; others get `quote_already_settled`.',
    journey: 'pay',
    http: {
      method: 'POST',
      path: '/v1/payment-links/payments',
      status: 200,
      alternative: { status: 202, field: 'status', equals: 'pending', retryAfterSeconds: 2 },
    },
    access: [],
    authorisedBy: { none: 'wallet_signature' },
    environment: { field: 'environment' },
    limits: [{ points: 30, windowSeconds: 60, per: 'ip' }],
    repeatable: true,
    body: z
      .strictObject({
        environment: Environment.describe('The environment of the quote'),
        quote_token: CompactToken.describe('The quote of the link'),
        secret: PageSecret,
        transaction: WireTransaction.describe('The transaction that the wallet has signed'),
      })
      .meta({ id: 'PayPaymentLinkRequest' }),
    output: z.discriminatedUnion('status', [Paid, PendingIncoming]),
    errors: ['conflict', 'insufficient_funds', 'payment_failed', 'quote_expired', 'quote_already_settled'],
    money: 'moves',
    namedBy: ['quote_token', 'transaction'],
    timeoutSeconds: 10,
    repeatsWhile: { field: 'status', equals: 'pending', seconds: 15 },
  }),
  followPhonePayment: operation({
    summary: 'What became of the code that the page of a payment link shows',
    description:
      'Called by the page, with its link and the secret of whose hash its code is. Nobody who only sees the code can ' +
      'call it. `failed`: no money moved, and the code can be scanned again.',
    journey: 'pay',
    http: { method: 'POST', path: '/v1/payment-links/phone-payments', status: 200 },
    access: [],
    authorisedBy: 'nothing',
    repeatable: true,
    environment: { field: 'environment' },
    limits: [{ points: 120, windowSeconds: 60, per: 'ip' }],
    body: z
      .strictObject({
        environment: Environment.describe('The environment of the link'),
        payment_link_id: PaymentLinkId,
        secret: PageSecret,
      })
      .meta({ id: 'FollowPhonePaymentRequest' }),
    output: z.discriminatedUnion('status', [PhonePayment, Paid]),
    errors: [],
  }),
};
