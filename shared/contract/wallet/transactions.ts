import { z } from 'zod';
import {
  DelegateId,
  MicroUsdc,
  MicroUsdcOrZero,
  Moment,
  page,
  pageQuery,
  ServiceId,
  Timestamp,
  TransactionHash,
  typeId,
} from '../primitives.ts';
import { operation } from '../service.ts';

/** Transactions and spending: projections of other services' events. */

export const TransactionId = typeId('txn', 'TransactionId');

const TransactionType = z
  .enum(['payment', 'deposit', 'withdrawal', 'refund', 'dev_fund'])
  .meta({ id: 'TransactionType', description: 'What the transfer is. dev_fund: test USDC' });

const Direction = z.enum(['in', 'out']).describe('in: the account received it. out: the account sent it');
const TransactionStatus = z
  .enum(['confirmed', 'finalized', 'reversed'])
  .describe('finalized: no fork can undo it any more. reversed: a fork has undone it');

export const Transaction = z
  .strictObject({
    transaction_id: TransactionId,
    type: TransactionType,
    direction: Direction,
    amount: MicroUsdc.meta({
      description:
        'The amount that left or reached the account. Of a payment: the gross amount for its payer, the net amount for its vendor',
    }),
    fee_amount: MicroUsdcOrZero.meta({
      description:
        'The platform’s fee on the payment. It is included in the payer’s amount and not in the vendor’s',
    }),
    status: TransactionStatus,
    tx_hash: TransactionHash.nullable().describe('The transaction on chain'),
    object_id: z.string().meta({
      description: 'The settlement, deposit, withdrawal, refund or test funding',
      examples: ['stl_01kaj5w0c0e8h9x2m4n6p8q0rs'],
    }),
    service_id: ServiceId.nullable().meta({ description: 'Set for a payment and its refund' }),
    delegate_id: DelegateId.nullable().meta({
      description: 'The delegate that paid, or whose payment was refunded. Shown only to the payer',
    }),
    item: z
      .string()
      .nullable()
      .meta({
        description:
          'What was bought, by this payment or before this refund: the title of a payment link, or an address. Null: nothing says so',
        examples: ['https://api.example.com/report'],
      }),
    created_at: Timestamp.meta({ description: 'When the transfer was first seen confirmed' }),
  })
  .meta({ id: 'Transaction', description: 'A transfer on chain as one account sees it' });

/** Maximum range of one spending summary in days. */
export const MAX_SUMMARY_DAYS = 366;
/** Maximum number of groups of one spending summary: those with the most spent. */
export const MAX_GROUPS = 1000;

const range = {
  from: Moment.optional().meta({ description: 'This time and later' }),
  to: Moment.optional().meta({ description: 'Before this time' }),
};

const summed = {
  from: Timestamp.describe('Begin of the range'),
  to: Timestamp.describe('End of the range, which is not part of it'),
  payment_count: z.int().min(0).describe('Number of payments'),
};

export const transactionOperations = {
  listTransactions: operation({
    summary: 'List transactions',
    description:
      'Lists the account’s transfers on chain: payments made and received, deposits, withdrawals, refunds. A ' +
      'transfer that a fork has finally undone remains in the list as reversed. A delegate key lists its own ' +
      'payments and their refunds. Attempts that are under way or have failed are listed with their own objects, ' +
      'for instance by GET /v1/settlements.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/transactions', status: 200 },
    access: ['jwt', 'delegate_key'],
    query: z.strictObject({
      ...pageQuery,
      type: TransactionType.optional().describe('Only transfers of this type'),
      direction: Direction.optional().describe('Only transfers in this direction'),
      status: TransactionStatus.optional().describe('Only transfers of this status'),
      service_id: ServiceId.optional().describe('Only payments of this service and their refunds'),
      delegate_id: DelegateId.optional().describe('Only payments of this delegate and their refunds'),
      object_id: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be an id')
        .optional()
        .meta({
          description: 'Only transfers of this settlement, deposit, withdrawal, refund or test funding',
          examples: ['stl_01kaj5w0c0e8h9x2m4n6p8q0rs'],
        }),
      tx_hash: TransactionHash.optional().describe('Only transfers of this transaction on chain'),
      ...range,
    }),
    output: page(Transaction),
    errors: [],
  }),
  spendingSummary: operation({
    summary: 'Summarize spending',
    description:
      'Sums the payments made from `from` up to `to`: at most 366 days, by default the last 30 UTC days including ' +
      'today. Payments that were reversed on chain are not counted.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/spending/summary', status: 200 },
    access: ['jwt', 'delegate_key'],
    query: z.strictObject({
      ...range,
      group_by: z.enum(['day', 'service', 'delegate']).optional().meta({
        description:
          'Default day (UTC). Days are in their order, other groups in the order of what was spent',
      }),
    }),
    output: z
      .strictObject({
        ...summed,
        total_spent: MicroUsdcOrZero.meta({ description: 'Gross, fees included' }),
        total_refunded: MicroUsdcOrZero.meta({ description: 'Refunds that arrived in this range' }),
        total_fees: MicroUsdcOrZero.describe('What the platform got of the payments'),
        groups: z
          .array(
            z.strictObject({
              key: z
                .union([z.iso.date().meta({ examples: ['2026-01-31'] }), ServiceId, DelegateId])
                .nullable()
                .meta({
                  description:
                    'Day, service_id or delegate_id; null: paid by the account itself and not by a delegate, or to vendors that do not use Quittance and have no service_id',
                }),
              spent: MicroUsdc.describe('Gross, fees included'),
              payment_count: z.int().min(1).describe('Number of payments of this group'),
            }),
          )
          .max(MAX_GROUPS)
          .meta({
            description: 'At most 1,000 groups, those with the most spent. The totals include all groups',
          }),
      })
      .meta({ id: 'SpendingSummary' }),
    errors: [],
  }),
  salesSummary: operation({
    summary: 'Summarize sales',
    description:
      'Sums the payments received from `from` up to `to`: at most 366 days, by default the last 30 UTC days including ' +
      'today. Payments that were reversed on chain are not counted. A service key sums the sales of its service.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/sales/summary', status: 200 },
    access: ['jwt', 'service_key'],
    query: z.strictObject({
      ...range,
      group_by: z.enum(['day', 'service']).optional().meta({
        description: 'Default day (UTC). Days are in their order, services in the order of what was sold',
      }),
    }),
    output: z
      .strictObject({
        ...summed,
        total_sold: MicroUsdcOrZero.meta({ description: 'Gross, fees included' }),
        total_refunded: MicroUsdcOrZero.meta({ description: 'Refunds that were made in this range' }),
        total_fees: MicroUsdcOrZero.describe(
          'What the platform got of the payments. Fees that x402 payments accrue are not part of it',
        ),
        groups: z
          .array(
            z.strictObject({
              key: z
                .union([z.iso.date().meta({ examples: ['2026-01-31'] }), ServiceId])
                .meta({ description: 'Day or service_id' }),
              sold: MicroUsdc.describe('Gross, fees included'),
              payment_count: z.int().min(1).describe('Number of payments of this group'),
            }),
          )
          .max(MAX_GROUPS)
          .meta({
            description: 'At most 1,000 groups, those with the most sold. The totals include all groups',
          }),
      })
      .meta({ id: 'SalesSummary' }),
    errors: [],
  }),
};
