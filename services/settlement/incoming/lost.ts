import { ServiceError } from '../../../shared/contract/errors.ts';
import { asOpen } from './as-open.ts';
import { moneyMovedFor, type Refused } from './model/refusal.ts';
import type { Presented } from './order.ts';

export type LostDeps = {
  /**
   * Asks every provider whether the chain has the payment of a transaction, if a restore has lost
   * records; otherwise false.
   */
  findLostIncoming: (transaction: string) => Promise<boolean>;
};

const RETRY_SECONDS = 30;

const isPaid = (): ServiceError =>
  new ServiceError(
    'service_unavailable',
    'records of this time were lost, and the chain has this payment, which is refused as a new one; repeat it when the reason is removed',
    { money_moved: 'unknown', safe_action: 'retry_same_attempt', retryAfterSeconds: RETRY_SECONDS },
  );

/**
 * Refuses a payment that has no record. Nothing was paid with it only if no restore has lost its
 * record: a limit, the terms of today or the state of the vendor do not prove that.
 * @throws ServiceError service_unavailable with `money_moved: unknown` when the chain has it, or
 *   cannot be searched
 */
export const refuseUnrecorded = async <R>(
  { findLostIncoming }: LostDeps,
  { vendor, transaction }: Pick<Presented<R>, 'vendor' | 'transaction'>,
  refusal: R,
): Promise<Refused<R>> => {
  if (await asOpen(findLostIncoming(transaction))) throw isPaid();
  return { kind: 'refused', refusal, moved: moneyMovedFor(null, vendor.serviceId) };
};
