import { z } from 'zod';
import {
  label,
  MicroUsdc,
  PaymentAttemptId,
  SettlementId,
  SolanaAddress,
  txHashOrNull,
  WireTransaction,
} from '../primitives.ts';
import { operation } from '../service.ts';

const ADDRESS = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
const V2 = {
  scheme: 'exact',
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  amount: '50000',
  asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  payTo: ADDRESS,
  maxTimeoutSeconds: 60,
  extra: { feePayer: ADDRESS },
};

/** Longest JSON text of a requirement, because the payload returns it to the vendor in a header. */
const MAX_REQUIREMENT_BYTES = 8192;

/**
 * One entry of `accepts` of a vendor's 402, unchanged: the payload must repeat it with all its
 * fields. Version 2 names the price `amount`, version 1 `maxAmountRequired`.
 */
const Requirement = z
  .object({
    scheme: z.string().max(32).describe('Always `exact`'),
    network: z.string().max(64).describe('CAIP-2 id of the chain, or its name in version 1'),
    asset: z.string().max(64).describe('The mint of USDC'),
    payTo: SolanaAddress.describe('The address that is paid'),
    amount: MicroUsdc.optional().describe('The price, in version 2'),
    maxAmountRequired: MicroUsdc.optional().describe('The price, in version 1'),
    extra: z
      .object({
        feePayer: SolanaAddress.describe('Who pays the fee of the transaction'),
        memo: z.string().max(256).optional().describe('The memo that the transaction must have'),
      })
      .catchall(z.unknown())
      .describe('What the scheme needs besides'),
  })
  .catchall(z.unknown())
  .refine((value) => JSON.stringify(value).length <= MAX_REQUIREMENT_BYTES, 'is too long')
  .meta({
    id: 'X402Requirement',
    description: 'One entry of `accepts` of the vendor’s 402, unchanged',
    examples: [V2],
  });
export type OutgoingRequirement = z.infer<typeof Requirement>;

/** Printable text without the characters that would end a quoted parameter. */
const parameter = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII');

/**
 * The parameters of a vendor’s `WWW-Authenticate: Payment`, unchanged: the credential repeats them,
 * and the vendor compares them with its own.
 */
const Challenge = z
  .strictObject({
    id: parameter(256).min(1).describe('The vendor’s id of the challenge'),
    realm: parameter(256).describe('The protection space'),
    method: z.literal('solana').describe('The payment method'),
    intent: z.literal('charge').describe('The intent'),
    request: z
      .string()
      .max(MAX_REQUIREMENT_BYTES)
      .regex(/^[A-Za-z0-9_-]+={0,2}$/, 'must be base64url')
      .describe('Base64url of the JSON that names amount, recipient and fee payer'),
    description: z
      .string()
      .max(1024)
      .regex(/^[^\0\p{Cs}]*$/u, 'must be text')
      .optional()
      .describe('What is sold, for people'),
    expires: z.iso.datetime({ offset: true }).optional().describe('The end of the offer'),
    digest: parameter(256).optional().describe('The digest of the request’s body'),
    opaque: parameter(MAX_REQUIREMENT_BYTES).optional().describe('The vendor’s own data'),
    header: z
      .literal('Payment-Authorization')
      .optional()
      .describe('The header that presents the payment, if it is not Authorization'),
  })
  .meta({
    id: 'MppChallenge',
    description: 'The parameters of `WWW-Authenticate: Payment` of the vendor’s 402, unchanged',
    examples: [
      {
        id: 'x7Tg2',
        realm: 'api.example.com',
        method: 'solana',
        intent: 'charge',
        request: 'eyJhbW91bnQiOiI1MDAwMCJ9',
      },
    ],
  });
export type OutgoingChallenge = z.infer<typeof Challenge>;

const OutgoingPayment = z
  .strictObject({
    settlement_id: SettlementId,
    status: z.enum(['pending', 'confirmed']).meta({
      description:
        'pending: signed, and not seen on chain yet. The amount stays reserved until the payment is seen, or until it is proven that it can no longer be included',
    }),
    payment_signature: z.string().meta({
      description:
        'Value of the header PAYMENT-SIGNATURE (x402 version 1: X-PAYMENT; MPP: Authorization, or the challenge’s `header`). Every answer to the same attempt has the same value',
      examples: ['eyJ4NDAyVmVyc2lvbiI6Mn0='],
    }),
    transaction: WireTransaction.meta({
      description: 'The signed transaction, without the fee payer’s signature',
    }),
    tx_hash: txHashOrNull,
  })
  .meta({ id: 'OutgoingPayment' });

const byId = z.strictObject({ settlement_id: SettlementId });

/** Payments to vendors that do not use Quittance (docs/design/interop.md, 6). */
export const outgoingOperations = {
  payExternal: operation({
    summary: 'Pay a vendor of x402 or MPP that does not use Quittance',
    description:
      'Signs the payment that a vendor’s 402 asks for, and returns the header that presents it. Give `requirement` ' +
      'for x402, or `challenge` for MPP (method `solana`, intent `charge`, with a fee payer of the vendor). A repeat ' +
      'with the same payment_attempt_id returns the same signed payment and never pays twice. The vendor, or its ' +
      'facilitator, broadcasts it. A delegate needs `external`, and its limits apply. Send the vendor’s answer to ' +
      '`POST /v1/payments/:settlement_id/report`.',
    journey: 'pay',
    http: { method: 'POST', path: '/v1/payments', status: 200 },
    access: ['jwt', 'delegate_key'],
    authorisedBy: { jwt: 'account_limits', delegate_key: 'delegate_limits' },
    fromDevice: 'served',
    whenFrozen: { handler: 'a repeat of a known attempt is answered, a new attempt is refused' },
    limits: [{ points: 20, windowSeconds: 60, per: 'account' }],
    body: z
      .strictObject({
        payment_attempt_id: PaymentAttemptId,
        resource: z
          .string()
          .max(2048)
          .regex(/^https?:\/\/[^\p{C}\s]+$/u, 'must be a URL of http or https')
          .refine((text) => URL.canParse(text), 'must be a URL of http or https')
          .meta({
            description:
              'The URL that asked for the payment. The word of the caller: it is shown, and compared with `origins`',
            examples: ['https://api.example.com/report'],
          }),
        x402_version: z
          .union([z.literal(1), z.literal(2)])
          .optional()
          .describe('The version of x402 that the vendor speaks. Default 2'),
        requirement: Requirement.optional(),
        challenge: Challenge.optional(),
      })
      .refine(
        ({ requirement, challenge }) => (requirement === undefined) !== (challenge === undefined),
        'must have either requirement (x402) or challenge (MPP)',
      )
      .meta({
        id: 'OutgoingPaymentRequest',
        examples: [
          { payment_attempt_id: 'attempt-1', resource: 'https://api.example.com/report', requirement: V2 },
        ],
      }),
    repeatable: true,
    output: OutgoingPayment,
    errors: [
      'conflict',
      'insufficient_funds',
      'delegation_inactive',
      'limit_exceeded',
      'approval_required',
      'approval_denied',
      'approval_expired',
      'payment_failed',
    ],
    money: 'moves',
    namedBy: ['payment_attempt_id'],
    timeoutSeconds: 20,
  }),
  reportExternal: operation({
    summary: 'Report a vendor’s answer to an outgoing payment',
    description:
      'A hint, so that the payment is seen sooner. The chain decides: a report of a failure releases nothing, ' +
      'because the vendor may still use the signed payment.',
    journey: 'pay',
    http: { method: 'POST', path: '/v1/payments/:settlement_id/report', status: 200 },
    access: ['jwt', 'delegate_key'],
    authorisedBy: 'nothing',
    fromDevice: 'served',
    whenFrozen: 'served',
    limits: [{ points: 60, windowSeconds: 60, per: 'account' }],
    params: byId,
    body: z
      .strictObject({
        payment_response: label(8192, 'eyJzdWNjZXNzIjp0cnVlfQ==').meta({
          description:
            'Value of the header PAYMENT-RESPONSE (x402 version 1: X-PAYMENT-RESPONSE; MPP: Payment-Receipt)',
        }),
      })
      .meta({ id: 'ReportOutgoingPaymentRequest' }),
    repeatable: true,
    output: z
      .strictObject({
        settlement_id: SettlementId,
        status: z
          .enum(['pending', 'confirmed', 'failed'])
          .describe('failed: the payment can no longer be included'),
        tx_hash: txHashOrNull,
      })
      .meta({ id: 'OutgoingPaymentReport' }),
    errors: ['not_found'],
    timeoutSeconds: 10,
  }),
};
