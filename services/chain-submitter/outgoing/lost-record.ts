import { conflict, type ServiceError } from '../../../shared/contract/errors.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import type { OutgoingRequest } from '../transactions/parse-order.ts';
import { adoptAnswered, type LostDeps } from './lost-payment.ts';

/**
 * Adopts a payment without an intent whose bytes were answered before: this database was restored
 * from a backup. Other bytes would pay twice, and a failure would release a hold that may still be
 * used, so nothing else is done for it.
 * @param payment null: what it was is not known here, and the caller may say it
 * @throws ServiceError conflict when the chain does not have it
 */
export const adoptOrRefuse = async (
  deps: LostDeps,
  { message_hash, settlement_id }: { message_hash: string; settlement_id: string },
  intentId: string,
  payment: { request: OutgoingRequest; since: string } | null,
): Promise<void> => {
  if (payment !== null) {
    if (await adoptAnswered(deps, { intentId, ...payment }, message_hash)) return;
    count('quittance_anomalies_total', 1, { kind: 'unknown_settlement' });
    deps.logger.error(
      { intent: intentId, settlement_id, message_hash },
      'outgoing payment was signed before and its record is lost, nothing is signed or closed',
    );
  }
  throw conflict('the record of the signed payment is lost; an operator has to end it');
};

/** The error for a payment that may be one which the chain has, and whose record is lost. */
export const refuseUndecided = (): ServiceError =>
  conflict('the chain has a payment that may be this one; an operator has to end it');
