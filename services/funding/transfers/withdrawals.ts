import { notFound } from '../../../shared/contract/errors.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { findWithdrawal, type WithdrawalRow } from './store/withdrawals.ts';

/** The account's withdrawal. Another's does not exist for it. */
export const ownWithdrawal = async (
  { pool }: Pick<Deps, 'pool'>,
  accountId: string,
  withdrawalId: string,
): Promise<WithdrawalRow> => {
  const row = await findWithdrawal(pool, accountId, withdrawalId);
  if (row === null) throw notFound('withdrawal');
  return row;
};

/** The prepared transaction of a withdrawal; what was prepared for it before can no longer be submitted. */
export const prepareWithdrawal = (
  deps: Deps,
  row: Pick<
    WithdrawalRow,
    'withdrawal_id' | 'account_id' | 'owner' | 'amount' | 'destination_address' | 'created_at'
  >,
) =>
  deps.prepareTransfer({
    transfer: 'withdrawal',
    object_id: row.withdrawal_id,
    settlement_id: null,
    account_id: row.account_id,
    budget_account_id: row.account_id,
    owner: row.owner,
    destination: row.destination_address,
    amount: formatMicro(row.amount),
    accepted_at: isoTime(row.created_at),
  });
