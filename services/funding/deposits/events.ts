import type { Db } from '../../../shared/db/pool.ts';
import { event } from '../../../shared/events/event.ts';
import { insertOutbox, type OutboxRow } from '../../../shared/events/outbox.ts';
import { findDepositUnscoped } from './store/deposits.ts';
import { showDeposit } from './view.ts';

/**
 * Inserts the event `funding.depositChanged` with the present state of a deposit. Called in the
 * transaction that made the change. The page's address is left out, because whoever has it can pay
 * there.
 */
export const insertDepositChanged = async (tx: Db, depositId: string): Promise<readonly OutboxRow[]> => {
  const row = await findDepositUnscoped(tx, depositId);
  if (row === null) return [];
  const { redirect_url: _page, ...deposit } = showDeposit(row);
  return insertOutbox(tx, [event('funding.depositChanged', { account_id: row.account_id, deposit })]);
};
