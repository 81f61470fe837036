import { z } from 'zod';
import {
  CompactToken,
  createdAt,
  ExtensionId,
  feeAmount,
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  netAmount,
  PaymentAttemptId,
  QuoteId,
  SettlementId,
  Timestamp,
  TransactionHash,
  txHashOrNull,
} from '../primitives.ts';
import { unitPrice } from '../quote/capture.ts';
import { operation } from '../service.ts';
import { SettlementStatus } from './status.ts';

/** The most uses of one call. */
const MAX_USAGES = 100;

const used = MicroUsdcOrZero.meta({ description: 'What was reported as used', examples: ['480000'] });
const left = MicroUsdcOrZero.meta({
  description: 'What can still be reported as used. 0: nothing, or the authorization is closed',
  examples: ['20000'],
});
const maxAmount = MicroUsdc.meta({
  description: 'The ceiling that the payer authorized',
  examples: ['500000'],
});
const captureEndsAt = Timestamp.describe('Until when use can be reported and captured');

/** What a settlement of a quote with `capture` shows besides. */
export const Authorization = z
  .strictObject({
    mode: z.enum(['manual', 'usage']).describe('Who decides what is captured, as its quote says'),
    max_amount: maxAmount,
    used,
    left,
    unit_price: unitPrice.nullable(),
    least_capture: MicroUsdc.meta({
      description:
        'The least use that is captured. Less does not exceed the fee: it is released, and nobody pays it',
      examples: ['10001'],
    }),
    capture_ends_at: captureEndsAt,
    at_risk_at: Timestamp.nullable().meta({
      description: 'When the payer’s wallet was seen not to cover what is held. Null: it was not',
    }),
    voided_at: Timestamp.nullable().describe('When it ended without a payment. Null: it did not'),
  })
  .meta({
    id: 'Authorization',
    description: 'The ceiling of a quote with `capture`, and what is used of it',
  });

/** A quote of the payer that added to the ceiling of an authorization. */
export const Extension = z
  .strictObject({
    extension_id: ExtensionId,
    quote_id: QuoteId,
    amount: MicroUsdc.describe('What it added to the ceiling'),
    created_at: createdAt,
    payment_attempt_id: PaymentAttemptId.optional().describe(
      'The id that the payer chose. Shown only to the payer',
    ),
  })
  .meta({ id: 'Extension' });

/** The answer of settle for such a quote. */
export const Authorized = z
  .strictObject({
    settlement_id: SettlementId,
    settlement_token: CompactToken.describe('Proof of the authorization. The payer gives it to the vendor'),
    status: z.literal('authorized').describe('The ceiling is held. Nothing is paid yet'),
    tx_hash: z.null().describe('There is no transaction before the capture'),
    max_amount: maxAmount,
    capture_ends_at: captureEndsAt,
    extension_id: ExtensionId.optional().describe(
      'Only of a quote with `extends`; the rest is about the authorization that it extended',
    ),
  })
  .meta({ id: 'AuthorizedSettlement' });

const UsageId = label(128, 'request-88-tokens-1').meta({
  id: 'UsageId',
  description: 'Chosen by the vendor for each use, unique within the settlement',
});
const usageFields = {
  amount: MicroUsdc.optional().meta({
    description: 'What was used. Either this or `units`',
    examples: ['250'],
  }),
  units: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .meta({ description: 'How many units were used, each at the `unit_price` of the quote', examples: [3] }),
  reason: label(200, 'GET /forecast').optional().describe('For the record of both sides'),
};
const Usage = z
  .strictObject({ usage_id: UsageId, ...usageFields })
  .meta({ id: 'Usage', description: 'One use' });

const captured = {
  settlement_id: SettlementId,
  captured_amount: MicroUsdc.meta({ description: 'What the payer pays', examples: ['480000'] }),
  fee_amount: feeAmount,
  net_amount: netAmount,
  max_amount: maxAmount,
};
const ConfirmedCapture = z
  .strictObject({
    ...captured,
    status: z.literal('confirmed').describe('The payment is on chain'),
    tx_hash: TransactionHash.describe('The transaction on chain'),
  })
  .meta({ id: 'ConfirmedCapture' });
const PendingCapture = z
  .strictObject({
    ...captured,
    status: z.literal('pending').describe('The payment is under way. Repeat the call'),
    tx_hash: txHashOrNull,
  })
  .meta({ id: 'PendingCapture' });

const presented = CompactToken.describe('The settlement token, as the payer gave it');
const params = z.strictObject({ settlement_id: SettlementId });
const served = {
  access: ['service_key'],
  authorisedBy: 'nothing',
  whenFrozen: 'served',
  params,
} as const;

/** Use, capture and void of authorizations by their vendor, and their end by the payer. */
export const authorizationOperations = {
  usage: operation({
    summary: 'Report what was used of an authorization',
    description:
      'For settlements of quotes with `capture`. Send one use, or up to 100 in `usages`: all of them are recorded, or ' +
      'none. A repeat with the same usage_id records nothing more and returns the same answer; 30 days after the ' +
      'settlement is final it returns the total. Use that is answered with 200 while the authorization is open is ' +
      'captured when the window ends, unless the vendor captures or voids before.',
    journey: 'deliver',
    http: { method: 'POST', path: '/v1/settlements/:settlement_id/usage', status: 200 },
    ...served,
    limits: [{ points: 1200, windowSeconds: 60, per: 'account' }],
    body: z
      .strictObject({
        settlement_token: presented,
        usage_id: UsageId.optional(),
        ...usageFields,
        usages: z
          .array(Usage)
          .min(1)
          .max(MAX_USAGES)
          .optional()
          .describe('Several uses, instead of the fields of one'),
      })
      .meta({
        id: 'UsageRequest',
        examples: [
          {
            settlement_token: 'eyJ2IjoxfQ.c2lnbmF0dXJl',
            usage_id: 'request-88-tokens-1',
            amount: '250',
            reason: 'GET /forecast',
          },
        ],
      }),
    repeatable: true,
    output: z
      .strictObject({
        settlement_id: SettlementId,
        max_amount: maxAmount,
        used: used.describe('What was used up to and including the uses of this call'),
        left: left.describe('What was left after them'),
      })
      .meta({ id: 'RecordedUsage' }),
    errors: ['not_found', 'conflict', 'usage_exceeds_authorization', 'authorization_closed'],
  }),
  capture: operation({
    summary: 'Capture an authorization',
    description:
      'Pays what was used, or with `capture` manual an amount up to the ceiling, by one transfer, and releases the ' +
      'rest. An authorization is captured once. A repeat returns the same capture. An amount that is larger than ' +
      'what was reported as used needs the settlement token.',
    journey: 'deliver',
    http: {
      method: 'POST',
      path: '/v1/settlements/:settlement_id/capture',
      status: 200,
      alternative: { status: 202, field: 'status', equals: 'pending', retryAfterSeconds: 5 },
    },
    ...served,
    authorisedBy: { service_key: 'authorized_ceiling' },
    limits: [{ points: 60, windowSeconds: 60, per: 'account' }],
    body: z
      .strictObject({
        amount: MicroUsdc.optional().meta({
          description: 'What to capture. Default: what was reported as used',
          examples: ['480000'],
        }),
        settlement_token: presented.optional(),
      })
      .meta({ id: 'CaptureRequest' }),
    bodyOptional: true,
    repeatable: true,
    output: z.discriminatedUnion('status', [ConfirmedCapture, PendingCapture]),
    errors: [
      'not_found',
      'conflict',
      'authorization_closed',
      'usage_exceeds_authorization',
      'capture_below_fee',
      'insufficient_funds',
      'delegation_inactive',
      'payment_failed',
    ],
    money: 'moves',
    namedBy: ['settlement_id'],
    timeoutSeconds: 20,
  }),
  void: operation({
    summary: 'Void an authorization',
    description:
      'Ends it without a payment and releases what it holds. Refused if use was reported, unless `discard_usage` is ' +
      'true. A repeat returns the same answer.',
    journey: 'deliver',
    http: { method: 'POST', path: '/v1/settlements/:settlement_id/void', status: 200 },
    ...served,
    limits: [{ points: 60, windowSeconds: 60, per: 'account' }],
    body: z
      .strictObject({
        discard_usage: z
          .boolean()
          .optional()
          .describe('Whether to end it even if use was reported, which nobody pays then'),
      })
      .meta({ id: 'VoidRequest' }),
    bodyOptional: true,
    repeatable: true,
    output: z
      .strictObject({
        settlement_id: SettlementId,
        status: z.literal('voided').describe('It has ended without a payment'),
        voided_at: Timestamp.describe('When it ended'),
        used: used.describe('What was reported as used and is not paid'),
      })
      .meta({ id: 'VoidedSettlement' }),
    errors: ['not_found', 'conflict'],
  }),
  close: operation({
    summary: 'Close an authorization',
    description:
      'For the payer: a sign-in of the account, or the delegate key that opened it. No further use is accepted, and the ' +
      'rest is released. What was reported as used is captured; nothing more, whatever the mode of its quote. A repeat ' +
      'returns what has become of it.',
    journey: 'pay',
    http: { method: 'POST', path: '/v1/settlements/:settlement_id/close', status: 200 },
    access: ['jwt', 'delegate_key'],
    authorisedBy: 'nothing',
    fromDevice: 'served',
    whenFrozen: 'served',
    params,
    repeatable: true,
    output: z
      .strictObject({
        settlement_id: SettlementId,
        status: SettlementStatus.describe(
          '`voided`: nothing is paid. `capturing` or `redeemed`: what was used is paid. `authorized`: it is closed, and ' +
            'captured as soon as possible',
        ),
        max_amount: maxAmount,
        used: used.describe('What was reported as used until it was closed'),
      })
      .meta({ id: 'ClosedAuthorization' }),
    errors: ['not_found', 'conflict'],
  }),
};
