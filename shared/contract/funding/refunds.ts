import { z } from 'zod';
import { extended } from '../extended.ts';
import {
  label,
  MicroUsdc,
  page,
  pageQuery,
  RefundId,
  ServiceId,
  SettlementId,
  SolanaAddress,
} from '../primitives.ts';
import { operation } from '../service.ts';
import { preparedFields, submitting, transferFields } from './withdrawals.ts';

const RefundStatus = z
  .enum(['pending_signature', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired'])
  .meta({
    id: 'RefundStatus',
    description:
      'pending_signature: waits for the signature of the payout address. submitted: sent to the chain. confirmed, finalized: ' +
      'the money has arrived. failed, cancelled, expired: no money moved and none will',
  });

export const Refund = z
  .strictObject({
    refund_id: RefundId,
    status: RefundStatus,
    settlement_id: SettlementId,
    service_id: ServiceId,
    payout_address: SolanaAddress.meta({
      description: 'The address that the settlement paid, whose key signs the refund',
    }),
    ...transferFields,
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why the vendor refunds', examples: ['The report was empty'] }),
  })
  .meta({ id: 'Refund' });
const PreparedRefund = extended(Refund, preparedFields, { id: 'PreparedRefund' });

const byId = z.strictObject({ refund_id: RefundId });

export const refunds = {
  createRefund: operation({
    summary: 'Prepare a refund of a settlement',
    description:
      'Refunds the net amount or a part of it. Several refunds are possible until the net amount is used up. The ' +
      'fee is not returned. No money moves until the key of the payout address has signed the transaction and it ' +
      'is submitted, within 24 hours. A service key needs no recent sign-in.',
    journey: 'sell',
    http: { method: 'POST', path: '/v1/refunds', status: 201 },
    access: ['service_key', 'jwt'],
    authorisedBy: { service_key: 'wallet_signature', jwt: 'step_up' },
    notes: ['refund_created'],
    whenFrozen: 'served',
    stepUp: true,
    idempotency: true,
    limits: [{ points: 5, windowSeconds: 60, per: 'account' }],
    body: z
      .strictObject({
        settlement_id: SettlementId,
        amount: MicroUsdc.optional().describe('How much to refund. Default: the rest of the net amount'),
        reason: label(200, 'The report was empty').optional().describe('Why. Payer and vendor see it'),
      })
      .meta({ id: 'CreateRefundRequest' }),
    output: PreparedRefund,
    errors: ['not_found', 'conflict', 'insufficient_funds'],
    money: 'prepares',
    timeoutSeconds: 10,
  }),
  submitRefund: operation({
    summary: 'Submit the signed refund, or prepare it again',
    description: 'A repeat with the same transaction returns the same result.',
    journey: 'sell',
    http: { method: 'POST', path: '/v1/refunds/:refund_id/submit', status: 200 },
    access: ['service_key', 'jwt'],
    authorisedBy: { service_key: 'wallet_signature', jwt: 'wallet_signature' },
    whenFrozen: 'served',
    params: byId,
    output: z.union([PreparedRefund, Refund]),
    ...submitting,
    namedBy: ['refund_id'],
  }),
  cancelRefund: operation({
    summary: 'Cancel a refund that was not submitted',
    description: 'Final. The reserved part of the settlement is released.',
    journey: 'sell',
    http: { method: 'POST', path: '/v1/refunds/:refund_id/cancel', status: 200 },
    access: ['service_key', 'jwt'],
    authorisedBy: 'nothing',
    whenFrozen: 'served',
    params: byId,
    bodyOptional: true,
    output: Refund,
    errors: ['not_found', 'conflict'],
  }),
  listRefunds: operation({
    summary: 'List refunds',
    description:
      'A service key lists the refunds of its service. An access token lists the refunds that the account makes and receives, or with `role` one of both.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/refunds', status: 200 },
    access: ['service_key', 'jwt'],
    query: z.strictObject({
      ...pageQuery,
      settlement_id: SettlementId.optional().describe('Only refunds of this settlement'),
      status: RefundStatus.optional().describe('Only refunds of this status'),
      role: z
        .enum(['payer', 'vendor'])
        .optional()
        .describe(
          'vendor: only refunds that the account makes. payer: only those that it receives. For an access token',
        ),
    }),
    output: page(Refund),
    errors: [],
  }),
  getRefund: operation({
    summary: 'Get a refund',
    journey: 'read',
    http: { method: 'GET', path: '/v1/refunds/:refund_id', status: 200 },
    access: ['service_key', 'jwt'],
    params: byId,
    output: Refund,
    errors: ['not_found'],
  }),
};
