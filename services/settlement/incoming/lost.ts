import { asOpen } from '../core/as-open.ts';
import type { Presented } from './order.ts';

export type LostDeps = {
  /**
   * Asks every provider whether the chain has the payment of a transaction, if a restore has lost
   * records; otherwise false.
   */
  findLostIncoming: (transaction: string) => Promise<boolean>;
};

/**
 * Whether the chain has a payment that is refused as a new one. A limit, the terms of today or the
 * state of the vendor do not prove that nothing was paid with it.
 * @throws ServiceError service_unavailable with `money_moved: unknown` when the chain cannot be
 *   searched
 */
export const findLost = async (
  { findLostIncoming }: LostDeps,
  { transaction }: Pick<Presented<never>, 'transaction'>,
): Promise<'none' | 'may be paid'> =>
  (await asOpen(findLostIncoming(transaction))) ? 'may be paid' : 'none';
