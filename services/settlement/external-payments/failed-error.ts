import { isErrorCode, ServiceError } from '../../../shared/contract/errors.ts';
import { failureExtras } from '../settlements/model/status.ts';
import type { SettlementRow } from '../settlements/store/settlements.ts';

/** The error of a payment that failed: it was not made, and its bytes cannot be used any more. */
export const failedError = ({
  settlement_id,
  failure_code,
  failure_message,
}: Pick<SettlementRow, 'settlement_id' | 'failure_code' | 'failure_message'>): ServiceError => {
  const code = isErrorCode(failure_code) ? failure_code : 'payment_failed';
  return new ServiceError(code, failure_message ?? 'the payment failed', {
    ...failureExtras(code),
    settlement_id,
  });
};
