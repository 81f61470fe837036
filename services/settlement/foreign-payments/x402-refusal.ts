import type { ErrorCode, MoneyMoved } from '../../../shared/contract/errors.ts';
import { x402ReasonOf } from './model/x402-reasons.ts';
import type { X402Refusal } from './model/x402-request.ts';
import type { Refusal } from './pay.ts';

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
  settlement_pending: 'service_unavailable',
  invalid_exact_svm_transaction_simulation_failed: 'payment_failed',
  invalid_exact_svm_transaction_failed: 'payment_failed',
};

/** The reason of x402 for an order that was refused. */
export const toX402 = ({ reason, message }: Refusal): X402Refusal => {
  if (reason === 'payment_identifier_conflict' || reason === 'facilitator_credit_exhausted')
    return { reason, message };
  if (reason === 'vendor_frozen') return { reason: 'facilitator_account_frozen', message };
  if (reason === 'other_service') return { reason: 'duplicate_settlement', message };
  return { reason: x402ReasonOf(reason), message };
};

/**
 * Whether the payment of a refused order moved money. That of another service may have, and it is
 * not this service's to report.
 */
export const movedBy = ({ reason }: Refusal): MoneyMoved => (reason === 'other_service' ? 'unknown' : 'no');

/** Our error beside a refusal of x402. */
export const errorOf = ({ reason, message }: X402Refusal, moved: MoneyMoved = 'no') => ({
  code: CODES[reason] ?? 'validation_error',
  message,
  money_moved: moved,
});
