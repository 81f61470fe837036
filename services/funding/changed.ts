import { funding } from '../../shared/contract/funding.ts';
import { subjects } from '../../shared/contract/service.ts';
import { insertOutbox, type OutboxRow } from '../../shared/db/outbox.ts';
import type { Db } from '../../shared/db/pool.ts';
import { showDeposit } from './deposit-view.ts';
import { lookUpDeposit } from './store/deposits.ts';
import { lookUpRefund } from './store/refunds.ts';
import type { Kind } from './store/transfers.ts';
import { lookUpWithdrawal } from './store/withdrawals.ts';
import { showRefund, showWithdrawal } from './transfer-view.ts';

type Fact = 'withdrawalChanged' | 'refundChanged' | 'depositChanged';

/** Told again of another transaction after a fork, so that is in the id. */
const tell = (
  tx: Db,
  fact: Fact,
  { status, tx_hash }: { status: string; tx_hash: string | null },
  [objectId, payload]: readonly [string, object],
): Promise<readonly OutboxRow[]> => {
  const msgId = `${fact}:${objectId}:${status}:${tx_hash ?? ''}`;
  return insertOutbox(tx, [{ subject: subjects.event(funding.name, fact), msgId, payload }]);
};

/** Puts the fact of a withdrawal's or refund's new status into the outbox; call it in the transaction that changed it. */
export const tellTransferChanged = async (
  tx: Db,
  kind: Kind,
  objectId: string,
): Promise<readonly OutboxRow[]> => {
  if (kind === 'withdrawal') {
    const row = await lookUpWithdrawal(tx, objectId);
    const withdrawal = showWithdrawal(row);
    return tell(tx, 'withdrawalChanged', row, [objectId, { account_id: row.account_id, withdrawal }]);
  }
  const row = await lookUpRefund(tx, objectId);
  const { vendor_account_id, payer_account_id } = row;
  const payload = { vendor_account_id, payer_account_id, refund: showRefund(row) };
  return tell(tx, 'refundChanged', row, [objectId, payload]);
};

/** The same of a deposit. */
export const tellDepositChanged = async (tx: Db, depositId: string): Promise<readonly OutboxRow[]> => {
  const row = await lookUpDeposit(tx, depositId);
  if (row === null) return [];
  const { redirect_url: _page, ...deposit } = showDeposit(row);
  return tell(tx, 'depositChanged', row, [depositId, { account_id: row.account_id, deposit }]);
};
