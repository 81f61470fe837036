import { z } from 'zod';
import {
  DelegateId,
  MicroUsdc,
  MicroUsdcOrZero,
  PaymentAttemptId,
  page,
  pageQuery,
  QuoteId,
  ServiceId,
  Timestamp,
  typeId,
} from '../primitives.ts';
import { operation } from '../service.ts';

export const DeclineId = typeId('dcl', 'DeclineId');

/** Why a payment was declined, and the error code that its caller got. */
export const DECLINE_CODES = {
  per_payment: 'limit_exceeded',
  daily: 'limit_exceeded',
  monthly: 'limit_exceeded',
  total: 'limit_exceeded',
  account_per_payment: 'limit_exceeded',
  account_daily: 'limit_exceeded',
  balance: 'insufficient_funds',
  allowance: 'delegation_inactive',
  service_not_allowed: 'forbidden',
  delegate_unknown: 'forbidden',
  delegate_paused: 'forbidden',
  account_frozen: 'forbidden',
  vendor_frozen: 'conflict',
  own_quote: 'conflict',
  quote_expired: 'quote_expired',
  approval_denied: 'approval_denied',
  approval_expired: 'approval_expired',
  payments_paused: 'service_unavailable',
  hourly_cap: 'service_unavailable',
  fee_budget: 'service_unavailable',
} as const;
export type DeclineReason = keyof typeof DECLINE_CODES;
export const DECLINE_REASONS = Object.keys(DECLINE_CODES) as [DeclineReason, ...DeclineReason[]];

/** A vendor does not learn which limit of its customer refused a payment. */
export const VENDOR_CODE = 'payer_declined' as const;

const DeclineCode = z.enum([...new Set(Object.values(DECLINE_CODES))]);
const Reason = z.enum(DECLINE_REASONS).meta({
  id: 'DeclineReason',
  description:
    'per_payment, daily, monthly, total: the limit of the delegate. account_per_payment, account_daily: the limit of the account for a sign-in. balance, allowance: of the wallet, less what ' +
    'other payments hold. hourly_cap, fee_budget, payments_paused: the platform accepts no further payment at the ' +
    'moment',
});

/** The limit of a decline, which its reason names. */
const Figures = z
  .strictObject({
    asked: MicroUsdc.meta({ description: 'Amount of the payment' }),
    limit: MicroUsdcOrZero.describe('The limit itself'),
    left: MicroUsdcOrZero.meta({ description: 'What no other payment has used or holds' }),
    resets_at: Timestamp.nullable().meta({ description: 'When a daily or monthly limit starts again' }),
  })
  .meta({ id: 'DeclineLimit', description: 'The limit that refused the payment' });

const OF_PAYER = 'Shown only to the payer';
export const Decline = z
  .strictObject({
    decline_id: DeclineId,
    quote_id: QuoteId,
    service_id: ServiceId,
    amount: MicroUsdc.describe('What the quote costs'),
    code: z.enum([...DeclineCode.options, VENDOR_CODE]).meta({
      description: `The error code that the payer got. A vendor sees \`${VENDOR_CODE}\` only`,
    }),
    created_at: Timestamp.describe('When the payment was refused first'),
    delegate_id: DelegateId.nullable()
      .optional()
      .meta({
        description: `The delegate whose key tried to pay; null: a sign-in of the account. ${OF_PAYER}`,
      }),
    payment_attempt_id: PaymentAttemptId.optional().meta({ description: `The first one. ${OF_PAYER}` }),
    reason: Reason.optional().meta({ description: OF_PAYER }),
    limit: Figures.nullable()
      .optional()
      .meta({ description: `Null if no limit of delegate or wallet is the reason. ${OF_PAYER}` }),
  })
  .meta({
    id: 'Decline',
    description:
      'A settle that was refused, once for each quote, delegate or sign-in, and reason. Nothing was paid. Stored for ' +
      '90 days',
  });

/** Refused payments, for both sides. */
export const declineOperations = {
  listDeclines: operation({
    summary: 'List declines',
    description:
      'Payments of quotes that were refused, with the reason. A service key lists those of its service’s quotes. An ' +
      'access token lists the account’s own, or with `role=vendor` those of the quotes of all its services. A ' +
      'delegate key lists its own.',
    http: { method: 'GET', path: '/v1/declines', status: 200 },
    access: ['service_key', 'jwt', 'delegate_key'],
    query: z.strictObject({
      ...pageQuery,
      quote_id: QuoteId.optional().describe('Only declines of this quote'),
      service_id: ServiceId.optional().describe('Only declines of quotes of this service'),
      delegate_id: DelegateId.optional().describe('Only declines of this delegate. For the payer'),
      code: DeclineCode.optional().describe('Only declines with this error code. For the payer'),
      role: z
        .enum(['payer', 'vendor'])
        .optional()
        .describe('Which side of the payments to list. For an access token. Default payer'),
    }),
    output: page(Decline),
    errors: [],
  }),
};
