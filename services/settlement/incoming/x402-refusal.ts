import type { ErrorCode, MoneyMoved } from '../../../shared/contract/errors.ts';
import type { IncomingRow } from '../record/store/incoming/incoming-payments.ts';
import type { Refusal } from './model/refusal.ts';
import { x402FailureOf, x402ReasonOf } from './model/x402-reasons.ts';
import type { X402Refusal } from './model/x402-request.ts';

/** Codes of our errors for the reasons that are not about the request. */
const CODES: Record<string, ErrorCode> = {
  insufficient_funds: 'insufficient_funds',
  payment_identifier_conflict: 'conflict',
  duplicate_settlement: 'conflict',
  facilitator_credit_exhausted: 'limit_exceeded',
  facilitator_budget_exhausted: 'service_unavailable',
  facilitator_paused: 'service_unavailable',
  facilitator_source_blocked: 'limit_exceeded',
  facilitator_account_frozen: 'forbidden',
  facilitator_service_closing: 'conflict',
  facilitator_payment_refunded: 'conflict',
  settlement_pending: 'service_unavailable',
  invalid_exact_svm_transaction_simulation_failed: 'payment_failed',
  invalid_exact_svm_transaction_failed: 'payment_failed',
};

/** The reason of x402 for an order that was refused. */
export const toX402 = ({ reason, message }: Refusal): X402Refusal => {
  if (reason === 'payment_identifier_conflict' || reason === 'facilitator_credit_exhausted')
    return { reason, message };
  if (reason === 'vendor_frozen') return { reason: 'facilitator_account_frozen', message };
  if (reason === 'service_closing') return { reason: 'facilitator_service_closing', message };
  if (reason === 'other_service') return { reason: 'duplicate_settlement', message };
  // Of payment links only.
  if (reason === 'quote_settled' || reason === 'quote_expired' || reason === 'too_many_open')
    return { reason: 'duplicate_settlement', message };
  return { reason: x402ReasonOf(reason), message };
};

/** Why the success of a paid settlement is not handed out any more. */
export const REFUNDED: X402Refusal = {
  reason: 'facilitator_payment_refunded',
  message: 'the whole amount of this payment is refunded, or a refund of it is under way',
};

/** Why a settlement failed, from its recorded reason. */
export const failureOf = ({
  failure_code,
  failure_message,
}: Pick<IncomingRow, 'failure_code' | 'failure_message'>): X402Refusal => ({
  reason: x402FailureOf(failure_code),
  message: failure_message ?? 'the payment failed',
});

/** Our error beside a refusal of x402. */
export const errorOf = ({ reason, message }: X402Refusal, moved: MoneyMoved) => ({
  code: CODES[reason] ?? 'validation_error',
  message,
  money_moved: moved,
});
