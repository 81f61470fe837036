import { z } from 'zod';
import { CompactToken, Environment, SettlementId, TransactionHash, WireTransaction } from '../primitives.ts';
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
/** The payment of a payment link by a wallet (docs/adr/0075). */
export const paymentLinkOperations = {
  payLink: operation({
    summary: 'Pay the quote of a payment link with a transaction that a wallet has signed',
    description:
      'Called by the page of the link. The transaction transfers the amount of the quote to its payout address, with ' +
      'the memo of the quote, and leaves the signature of the fee payer empty. It is signed only after the payment ' +
      'is recorded as the one payment of its quote. A repeat never pays twice. After 202, repeat the call.',
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
        transaction: WireTransaction.describe('The transaction that the wallet has signed'),
      })
      .meta({ id: 'PayPaymentLinkRequest' }),
    output: z.discriminatedUnion('status', [Paid, PendingIncoming]),
    errors: ['conflict', 'insufficient_funds', 'payment_failed', 'quote_expired', 'quote_already_settled'],
    money: 'moves',
    timeoutSeconds: 10,
    repeatsWhile: { field: 'status', equals: 'pending', seconds: 15 },
  }),
};
