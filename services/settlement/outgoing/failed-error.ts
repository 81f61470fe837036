import { ServiceError } from '../../../shared/contract/errors.ts';
import { failedError } from '../settlements/model/refusal.ts';
import type { SettlementRow } from '../settlements/store/settlements.ts';

/** The error of a payment that failed: it was not made, and its bytes cannot be used any more. */
export const failedPaymentError = ({
  settlement_id,
  ...row
}: Pick<SettlementRow, 'settlement_id' | 'failure_code' | 'failure_message'>): ServiceError => {
  const { code, message, extras } = failedError(row);
  return new ServiceError(code, message, { ...extras, settlement_id });
};
