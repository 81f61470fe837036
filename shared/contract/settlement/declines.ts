import { z } from 'zod';
import type { ErrorCode } from '../errors.ts';
import {
  ACCOUNT_LIMITS,
  CAPS,
  IN_CONSOLE,
  LIMITS,
  type MailedFigures,
  WALLET_LIMITS,
  WHEN_RENEWED,
} from '../limits.ts';
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

type Declared = {
  /** The error code that the caller got. */
  code: ErrorCode;
  /** Why, and what the owner of the delegate can do, with figures or without. Neither: no mail. */
  mail?: ((figures: MailedFigures) => readonly string[]) | null;
  mailWithout?: readonly string[];
  /** As the console shows it. Absent: the reason itself. */
  badge?: string;
};

/** Why a payment was declined besides a limit. What depends on a reason is made from this table. */
const REFUSED = {
  service_not_allowed: {
    code: 'forbidden',
    mailWithout: [
      'The agent may pay certain services only, and this is not one of them.',
      `To allow this payment, add the service ${IN_CONSOLE}.`,
    ],
    badge: 'service not allowed',
  },
  delegate_unknown: { code: 'forbidden' },
  delegate_paused: {
    code: 'forbidden',
    mailWithout: [
      'The agent is paused, so its payments are refused.',
      `To allow payments, resume it ${IN_CONSOLE}.`,
    ],
    badge: 'agent paused',
  },
  account_frozen: { code: 'forbidden' },
  vendor_frozen: { code: 'conflict' },
  own_quote: { code: 'conflict' },
  quote_expired: { code: 'quote_expired' },
  authorization_closed: { code: 'authorization_closed', badge: 'tab closed' },
  approval_denied: { code: 'approval_denied' },
  approval_expired: { code: 'approval_expired' },
  tab_amount: { code: 'conflict', badge: 'ceiling too high' },
  tab_new_payer: { code: 'conflict', badge: 'too much authorized by a new payer' },
  tab_share: { code: 'conflict', badge: 'too much authorized by one payer' },
  tab_vendor: { code: 'conflict', badge: 'too much authorized for this vendor' },
  payments_paused: { code: 'service_unavailable' },
  hourly_cap: { code: 'service_unavailable' },
  fee_budget: { code: 'service_unavailable' },
} as const satisfies Record<string, Declared>;

const ALL = { ...LIMITS, ...REFUSED };
export type DeclineReason = keyof typeof ALL;
/** Every reason of a decline: the limits in rank order, then the others. */
export const DECLINES: Readonly<Record<DeclineReason, Declared>> = ALL;
export const DECLINE_REASONS = Object.keys(DECLINES) as [DeclineReason, ...DeclineReason[]];

/** A vendor does not learn which limit of its customer refused a payment. */
export const VENDOR_CODE = 'payer_declined' as const;

const DeclineCode = z.enum([...new Set(Object.values(ALL).map(({ code }) => code))]);
const Reason = z.enum(DECLINE_REASONS).meta({
  id: 'DeclineReason',
  description:
    `${CAPS.join(', ')}: the limit of the delegate. ${ACCOUNT_LIMITS.join(', ')}: the limit of the account for a sign-in. ` +
    `${WALLET_LIMITS.join(', ')}: of the wallet, less what other payments hold. ` +
    'hourly_cap, fee_budget, payments_paused: the platform accepts no further payment at the ' +
    'moment. tab_amount, tab_new_payer, tab_share, tab_vendor: the ceiling of a quote with `capture` exceeds what may be ' +
    'authorized by one quote, by a payer without a final payment, or for one vendor. There may be further ones',
});

/** The limit of a decline, which its reason names. */
const Figures = z
  .strictObject({
    asked: MicroUsdc.meta({ description: 'Amount of the payment' }),
    limit: MicroUsdcOrZero.describe('The limit itself'),
    left: MicroUsdcOrZero.meta({ description: 'What no other payment has used or holds' }),
    resets_at: Timestamp.nullable().meta({ description: WHEN_RENEWED }),
  })
  .meta({ id: 'DeclineLimit', description: 'The limit that refused the payment' });

const OF_PAYER = 'Shown only to the payer';
export const Decline = z
  .strictObject({
    decline_id: DeclineId,
    quote_id: QuoteId,
    service_id: ServiceId,
    service_name: z
      .string()
      .meta({ description: 'Who asked for it, as the quote says', examples: ['Weather API'] }),
    item: z
      .string()
      .nullable()
      .meta({
        description: 'What was to be bought: a title, or an address. Null: the quote does not say',
        examples: ['https://api.example.com/forecast'],
      }),
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
    journey: 'read',
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
