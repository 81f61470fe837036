import type { Moved } from '../../../shared/contract/funding.ts';
import type { Db } from '../../../shared/db/pool.ts';
import { event, job, type Message } from '../../../shared/events/event.ts';
import { insertOutbox, type OutboxRow } from '../../../shared/events/outbox.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { lookUpDeposit } from '../deposits/store/deposits.ts';
import { showDeposit } from '../deposits/view.ts';
import type { DevFundRow } from '../dev-funds/store.ts';
import { type MovedRow, movedBy } from '../movements/store.ts';
import { lookUpRefund } from './store/refunds.ts';
import { lookUpWithdrawal } from './store/withdrawals.ts';
import type { Kind } from './store.ts';
import { showRefund, showWithdrawal } from './view.ts';

/**
 * What this service publishes. What inserts is called in the transaction that made the change, and
 * reads it there.
 */

/** A transfer as other services are told of it. */
export const showMoved = (row: MovedRow): Moved => ({
  ...row,
  amount: formatMicro(row.amount),
  created_at: isoTime(row.created_at),
});

/** Where an object's transfer stands. Nothing of what never was on the chain. */
export const insertMoved = async (tx: Db, objectId: string): Promise<readonly OutboxRow[]> => {
  const row = await movedBy(tx, objectId);
  return row === null ? [] : insertOutbox(tx, [event('funding.moved', showMoved(row))]);
};

const transferChanged = async (tx: Db, kind: Kind, objectId: string): Promise<Message> => {
  if (kind === 'withdrawal') {
    const row = await lookUpWithdrawal(tx, objectId);
    const { account_id } = row;
    return event('funding.withdrawalChanged', { account_id, withdrawal: showWithdrawal(row) });
  }
  const row = await lookUpRefund(tx, objectId);
  const { vendor_account_id, payer_account_id } = row;
  return event('funding.refundChanged', { vendor_account_id, payer_account_id, refund: showRefund(row) });
};

/** The new status of a withdrawal or refund. */
export const insertTransferChanged = async (
  tx: Db,
  kind: Kind,
  objectId: string,
): Promise<readonly OutboxRow[]> => insertOutbox(tx, [await transferChanged(tx, kind, objectId)]);

/** The same of a deposit. */
export const insertDepositChanged = async (tx: Db, depositId: string): Promise<readonly OutboxRow[]> => {
  const row = await lookUpDeposit(tx, depositId);
  if (row === null) return [];
  const { redirect_url: _page, ...deposit } = showDeposit(row);
  return insertOutbox(tx, [event('funding.depositChanged', { account_id: row.account_id, deposit })]);
};

/**
 * The job that sends test funds. chain-submitter knows it by the fund's id, so another dispatch
 * never sends twice.
 */
export const fundJob = ({ fund_id, account_id, owner, amount, drive }: DevFundRow): Message =>
  job(
    'chain-submitter.fund',
    { fund_id, account_id, owner, amount: formatMicro(amount) },
    { dispatch: drive },
  );
