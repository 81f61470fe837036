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
} from './primitives.ts';
import { operation } from './service.ts';

/** Transactions and spending: projections that wallet keeps of other services' facts. */

export const TransactionId = typeId('txn', 'TransactionId');

const TransactionType = z
  .enum(['payment', 'deposit', 'withdrawal', 'refund', 'dev_fund'])
  .meta({ id: 'TransactionType' });

const Direction = z.enum(['in', 'out']);
const TransactionStatus = z.enum(['confirmed', 'finalized', 'reversed']);

export const Transaction = z
  .strictObject({
    transaction_id: TransactionId,
    type: TransactionType,
    direction: Direction,
    amount: MicroUsdc.meta({
      description:
        'What left or reached the account: of a payment the gross for its payer, the net for its vendor',
    }),
    fee_amount: MicroUsdcOrZero.meta({
      description: 'The platform’s fee on the payment: part of the payer’s amount, taken off the vendor’s',
    }),
    status: TransactionStatus,
    tx_hash: TransactionHash.nullable(),
    object_id: z
      .string()
      .meta({ description: 'The settlement, deposit, withdrawal, refund or test funding' }),
    service_id: ServiceId.nullable().meta({ description: 'Of a payment, and of its refund' }),
    delegate_id: DelegateId.nullable().meta({
      description: 'Which delegate paid, or whose payment came back; its payer alone sees it',
    }),
    created_at: Timestamp.meta({ description: 'When the transfer was first seen confirmed' }),
  })
  .meta({ id: 'Transaction', description: 'A transfer on chain as one account sees it' });

/** Of one spending summary. */
export const MAX_SUMMARY_DAYS = 366;
/** Groups of one spending summary, those with the most spent. */
export const MAX_GROUPS = 1000;

const range = {
  from: Moment.optional().meta({ description: 'This moment and later' }),
  to: Moment.optional().meta({ description: 'Before this moment' }),
};

export const transactionOperations = {
  listTransactions: operation({
    summary: 'List transactions',
    description:
      'What moved on chain, as the account sees it: payments made and received, deposits, withdrawals, refunds. ' +
      'One that a fork undid for good stays, as reversed. A delegate key sees its own payments and their refunds. ' +
      'Attempts that are under way or failed are with their own objects, for instance GET /v1/settlements.',
    http: { method: 'GET', path: '/v1/transactions', status: 200 },
    access: ['jwt', 'delegate_key'],
    query: z.strictObject({
      ...pageQuery,
      type: TransactionType.optional(),
      direction: Direction.optional(),
      status: TransactionStatus.optional(),
      service_id: ServiceId.optional(),
      delegate_id: DelegateId.optional(),
      ...range,
    }),
    output: page(Transaction),
    errors: [],
  }),
  spendingSummary: operation({
    summary: 'Sum up spending',
    description:
      'Payments made from `from` up to `to`: at most 366 days, by default the last 30 UTC days, today included. ' +
      'What was reversed on chain is not spent.',
    http: { method: 'GET', path: '/v1/spending/summary', status: 200 },
    access: ['jwt', 'delegate_key'],
    query: z.strictObject({
      ...range,
      group_by: z
        .enum(['day', 'service', 'delegate'])
        .optional()
        .meta({ description: 'Default day (UTC); days in their order, others by what was spent' }),
    }),
    output: z
      .strictObject({
        from: Timestamp,
        to: Timestamp,
        total_spent: MicroUsdcOrZero.meta({ description: 'Gross, fees included' }),
        total_refunded: MicroUsdcOrZero.meta({ description: 'Refunds that arrived in this time' }),
        total_fees: MicroUsdcOrZero,
        payment_count: z.int().min(0),
        groups: z
          .array(
            z.strictObject({
              key: z
                .union([z.iso.date().meta({ examples: ['2026-01-31'] }), ServiceId, DelegateId])
                .nullable()
                .meta({
                  description:
                    'Day, service_id or delegate_id; null: paid by the account itself, not by a delegate',
                }),
              spent: MicroUsdc,
              payment_count: z.int().min(1),
            }),
          )
          .max(MAX_GROUPS)
          .meta({ description: 'At most 1,000, those with the most spent; the totals count all' }),
      })
      .meta({ id: 'SpendingSummary' }),
    errors: [],
  }),
};
