import { z } from 'zod';
import {
  Currency,
  Environment,
  MicroUsdc,
  MicroUsdcOrZero,
  PaymentLinkId,
  QuoteId,
  RefundId,
  ServiceId,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
} from '../primitives.ts';
import { operation } from '../service.ts';
import { Payees } from './payees.ts';
import { Rail } from './rail.ts';
import { ChainStatus, SettlementStatus } from './status.ts';

/** The `typ` of a receipt's header. No other token of the API has it. */
export const RECEIPT_TYPE = 'quittance-receipt+jwt';

/** Maximum number of refunds that a receipt lists. The sum of all is in `refunded`. */
export const MAX_RECEIPT_REFUNDS = 50;

/** A refund whose transfer is confirmed. */
export const ReceiptRefund = z
  .strictObject({
    refund_id: RefundId,
    amount: MicroUsdc.describe('What the payer got back'),
    signature: TransactionHash.describe('The transaction on chain'),
    status: z.enum(['confirmed', 'finalized']).describe('finalized: no fork can undo it any more'),
    created_at: Timestamp.meta({ description: 'When the refund was requested' }),
  })
  .meta({ id: 'ReceiptRefund' });

/**
 * The signed content of a receipt. It has no account, delegate or attempt, because a receipt is
 * made to be shown to others. Both addresses are public on the chain.
 */
export const ReceiptClaims = z
  .strictObject({
    iss: z.string().meta({
      description: 'The address of the API that signed it',
      examples: ['https://api.quittance.example'],
    }),
    env: Environment.describe('Of the payment. A payment of test moved no real money'),
    iat: z.int().meta({
      description: 'When it was signed, in seconds since 1970. It states what was known then',
      examples: [1795255200],
    }),
    settlement_id: SettlementId,
    rail: Rail,
    status: SettlementStatus,
    chain_status: ChainStatus.meta({
      description: '`failed`: the chain reversed the payment after it was confirmed',
    }),
    network: z.string().meta({
      description: 'CAIP-2 id of the chain',
      examples: ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
    }),
    quote: z
      .strictObject({ quote_id: QuoteId, issued_at: Timestamp.describe('When the vendor made the quote') })
      .nullable()
      .meta({ description: 'Null for a payment of another protocol' }),
    item: z
      .string()
      .nullable()
      .meta({
        description:
          'What was bought, as its vendor or the payer’s client named it: a title, or an address. Null: nobody did',
        examples: ['Harbour tour'],
      }),
    payment_link_id: PaymentLinkId.nullable().describe('The payment link that was paid. Null: none'),
    vendor: z
      .strictObject({
        service_id: ServiceId.nullable().meta({ description: 'Null for an outgoing payment of x402' }),
        service_name: z
          .string()
          .meta({ description: 'The name when the payment was priced', examples: ['Weather API'] }),
        payees: Payees.meta({
          description: 'Everybody who was paid, with what it got. Together they got `amount.net`',
        }),
      })
      .describe('Who was paid'),
    payer_address: SolanaAddress.meta({
      description: 'Owner of the wallet that paid. Of a client of another protocol: the address that signed',
    }),
    amount: z
      .strictObject({
        gross: MicroUsdc.meta({ description: 'What the payer paid' }),
        fee: MicroUsdcOrZero.meta({ description: 'What the transaction paid to the platform' }),
        net: MicroUsdc.meta({ description: 'What the payees received' }),
        currency: Currency,
        mint: SolanaAddress.meta({ description: 'The mint of USDC on this network' }),
      })
      .describe('How much was paid'),
    transaction: z
      .strictObject({
        signature: TransactionHash.describe('Its signature, which names it on chain'),
        superseded: z.array(TransactionHash).meta({
          description: 'Earlier transactions of this payment, which a fork replaced',
        }),
      })
      .describe('The transaction on chain'),
    confirmed_at: Timestamp.describe('When the payment was confirmed on chain'),
    redeemed_at: Timestamp.nullable().describe('When the vendor redeemed it. Null: not redeemed'),
    refunds: z
      .array(ReceiptRefund)
      .max(MAX_RECEIPT_REFUNDS)
      .meta({
        description: `The confirmed refunds, oldest first, at most ${MAX_RECEIPT_REFUNDS}`,
      }),
    refund_count: z.int().min(0).meta({ description: 'Number of all confirmed refunds' }),
    refunded: MicroUsdcOrZero.meta({ description: 'Sum of all confirmed refunds' }),
  })
  .meta({ id: 'ReceiptClaims' });
export type ReceiptClaims = z.infer<typeof ReceiptClaims>;

const Receipt = z
  .string()
  .max(65_536)
  .regex(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/)
  .meta({
    id: 'Receipt',
    description: 'Compact JWS (RFC 7515) with EdDSA',
    examples: [
      'eyJhbGciOiJFZERTQSIsImtpZCI6InRlc3Quc2V0dGxlbWVudC4xIn0.eyJpc3MiOiJodHRwczovL2FwaSJ9.c2lnbmF0dXJl',
    ],
  });

/** Signed receipts of payments. */
export const receiptOperations = {
  getReceipt: operation({
    summary: 'Get the signed receipt of a payment',
    description:
      'Anyone can verify the receipt without an account: it is a compact JWS with EdDSA, signed by a key of ' +
      '`/.well-known/jwks.json?all=true` whose kid is `<env>.settlement.<n>`. Require the `typ` ' +
      `\`${RECEIPT_TYPE}\`, the \`alg\` \`EdDSA\`, and an \`env\` equal to that of the kid. The SDK does this with ` +
      '`verifyReceipt`. A receipt states what was known at its `iat`: get it again after a refund. It exists once the ' +
      'payment is confirmed; before that the call answers `conflict`.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/settlements/:settlement_id/receipt', status: 200 },
    access: ['service_key', 'jwt', 'delegate_key'],
    params: z.strictObject({ settlement_id: SettlementId }),
    output: z
      .strictObject({
        receipt: Receipt,
        receipt_url: z.string().meta({
          description:
            'A page that verifies and shows the receipt, for people. Its fragment is the receipt, which no server sees',
          examples: ['https://api.quittance.example/receipt#eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl'],
        }),
        claims: ReceiptClaims.meta({ description: 'The content of the receipt' }),
      })
      .meta({ id: 'SettlementReceipt' }),
    errors: ['not_found', 'conflict'],
  }),
};
