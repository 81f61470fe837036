import { conflict, type ServiceError } from '../../../shared/contract/errors.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';

/**
 * Refuses to act on a payment without an intent whose bytes were answered before: this database was
 * restored from a backup. Other bytes would pay twice, and a failure would release a hold that may
 * still be used.
 * @throws ServiceError conflict
 */
export const refuseIfLost = (
  logger: Logger,
  intentId: string,
  { message_hash, settlement_id }: { message_hash?: string | null | undefined; settlement_id: string },
): void => {
  if (message_hash === undefined || message_hash === null) return;
  count('quittance_anomalies_total', 1, { kind: 'unknown_settlement' });
  logger.error(
    { intent: intentId, settlement_id, message_hash },
    'outgoing payment was signed before and its record is lost, nothing is signed or closed',
  );
  throw conflict('the record of the signed payment is lost; an operator has to end it');
};

/** The error for a payment that may be one which the chain has, and whose record is lost. */
export const refuseUndecided = (): ServiceError =>
  conflict('the chain has a payment that may be this one; an operator has to end it');
