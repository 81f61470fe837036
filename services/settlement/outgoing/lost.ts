import type { Records } from '../../../shared/boot.ts';
import { ERRORS, ServiceError } from '../../../shared/contract/errors.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { Peers } from '../peers.ts';
import { findLostTime } from '../record/store/restores.ts';
import type { OutgoingOrder } from './model/order.ts';

export type LostDeps = Pick<Records, 'pool'> & Pick<Peers, 'findWallet' | 'findLostOutgoing'>;

/** A payment of an account that is refused, and the wallet that would have made it. */
type Refused = { accountId: string; walletId: string | null; paymentAttemptId: string; order: OutgoingOrder };

/**
 * Whether a restore may have lost the record of an attempt that is refused as a new one. The chain
 * decides (docs/adr/0034). An error that may be repeated needs no search: it states nothing about
 * money, unless it says that none moved, which nobody knows then.
 */
export const mayHavePaid = async (
  { pool, findWallet, findLostOutgoing }: LostDeps,
  { accountId, walletId, paymentAttemptId, order }: Refused,
  refusal: ServiceError,
): Promise<boolean> => {
  const { retryable } = ERRORS[refusal.code];
  if (retryable && refusal.extras.money_moved !== 'no') return false;
  const lost = await findLostTime(pool, accountId);
  if (lost === null) return false;
  if (retryable) return true;
  try {
    // The wallet may have paid for the first time in the lost time.
    const wallet = await findWallet(accountId, walletId);
    const owners = [...new Set([...lost.owners, ...(wallet === null ? [] : [wallet.owner])])];
    const { found } = await findLostOutgoing({
      account_id: accountId,
      payment_attempt_id: paymentAttemptId,
      pay_to: order.payTo,
      amount: formatMicro(order.amountMicro),
      memo: order.memo,
      ...(order.splits !== undefined && { splits: [...order.splits] }),
      lost: { ...lost, owners },
    });
    return found !== 'none';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return true;
  }
};
