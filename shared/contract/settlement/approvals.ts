import { z } from 'zod';
import {
  createdAt,
  DelegateId,
  MicroUsdc,
  PaymentAttemptId,
  page,
  pageQuery,
  QuoteId,
  ServiceId,
  SettlementId,
  Timestamp,
  typeId,
} from '../primitives.ts';
import { operation } from '../service.ts';
import { Payees } from './payees.ts';
import { Rail } from './rail.ts';

export const ApprovalId = typeId('apr', 'ApprovalId');

const ApprovalStatus = z.enum(['awaiting_approval', 'approved', 'denied', 'expired']).meta({
  id: 'ApprovalStatus',
  description: 'awaiting_approval: the owner has not decided. expired: the owner did not decide in time',
});

export const Approval = z
  .strictObject({
    approval_id: ApprovalId,
    status: ApprovalStatus,
    delegate_id: DelegateId,
    payment_attempt_id: PaymentAttemptId,
    rail: Rail,
    amount: MicroUsdc.describe('What would be paid'),
    payees: Payees.describe(
      'Everybody who would be paid. Of a quote, the service with the whole amount, of which the platform gets its fee',
    ),
    service_id: ServiceId.nullable().meta({ description: 'Null for a vendor that does not use Quittance' }),
    service_name: z
      .string()
      .meta({ description: 'Name of the service, or host of the vendor', examples: ['Weather API'] }),
    quote_id: QuoteId.nullable().describe('The quote to pay. Null for a vendor that does not use Quittance'),
    resource: z
      .string()
      .nullable()
      .meta({
        description:
          'What is paid for: of a quote, what it is signed for (the title of a payment link, or the address); otherwise what the delegate says. Null: the quote names nothing',
        examples: ['https://api.example.com/report'],
      }),
    created_at: createdAt,
    expires_at: Timestamp.meta({ description: 'It cannot be approved or used after this time' }),
    decided_at: Timestamp.nullable().describe('When the owner decided. Null: not yet'),
    settlement_id: SettlementId.nullable().meta({ description: 'The payment that used the approval' }),
  })
  .meta({
    id: 'Approval',
    description: 'A payment of a delegate that its owner must approve. It reserves nothing',
  });

const byId = z.strictObject({ approval_id: ApprovalId });

/** Payments that wait for the owner. Identity approves them, because it checks the passkey. */
export const approvalOperations = {
  listApprovals: operation({
    summary: 'List approvals',
    description: 'A delegate key lists those of its own payments.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/approvals', status: 200 },
    access: ['jwt', 'delegate_key'],
    query: z.strictObject({
      ...pageQuery,
      status: ApprovalStatus.optional().describe('Only approvals of this status'),
    }),
    output: page(Approval),
    errors: [],
  }),
  getApproval: operation({
    summary: 'Get an approval',
    journey: 'read',
    http: { method: 'GET', path: '/v1/approvals/:approval_id', status: 200 },
    access: ['jwt', 'delegate_key'],
    params: byId,
    output: Approval,
    errors: ['not_found'],
  }),
  denyApproval: operation({
    summary: 'Deny a payment that waits for approval',
    description: 'A repeat, also of an approved one that is not used yet, denies it.',
    journey: 'agent',
    http: { method: 'POST', path: '/v1/approvals/:approval_id/deny', status: 200 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    fromDevice: 'served',
    whenFrozen: 'served',
    params: byId,
    repeatable: true,
    output: Approval,
    errors: ['not_found', 'conflict'],
  }),
};
