import type { Db } from '../../../shared/db/pool.ts';
import { event, type Message } from '../../../shared/events/event.ts';
import { insertOutbox, type OutboxRow } from '../../../shared/events/outbox.ts';
import type { TransferKind } from './model/pending.ts';
import { getRefundUnscoped } from './store/refunds.ts';
import { getWithdrawalUnscoped } from './store/withdrawals.ts';
import { showRefund, showWithdrawal } from './view.ts';

const transferChanged = async (tx: Db, kind: TransferKind, objectId: string): Promise<Message> => {
  if (kind === 'withdrawal') {
    const row = await getWithdrawalUnscoped(tx, objectId);
    const { account_id } = row;
    return event('funding.withdrawalChanged', { account_id, withdrawal: showWithdrawal(row) });
  }
  const row = await getRefundUnscoped(tx, objectId);
  const { vendor_account_id, payer_account_id } = row;
  return event('funding.refundChanged', { vendor_account_id, payer_account_id, refund: showRefund(row) });
};

/**
 * Inserts the event `funding.withdrawalChanged` or `funding.refundChanged` with the present state
 * of the object. Called in the transaction that made the change.
 */
export const insertTransferChanged = async (
  tx: Db,
  kind: TransferKind,
  objectId: string,
): Promise<readonly OutboxRow[]> => insertOutbox(tx, [await transferChanged(tx, kind, objectId)]);
