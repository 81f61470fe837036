import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { matching, type Page, pageBy } from '../../../../shared/lists/page.ts';
import { andStatusIs, transferColumns, transferShape } from '../store.ts';

const Row = z.object({
  withdrawal_id: z.string(),
  account_id: z.string(),
  wallet_id: z.string(),
  owner: z.string(),
  ...transferShape('pending_approval'),
});
export type WithdrawalRow = z.infer<typeof Row>;

const columns = sql.fragment`withdrawal_id, account_id, wallet_id, owner, ${transferColumns}`;

/** Writes a withdrawal that was prepared. Times are epoch milliseconds. */
export const insertWithdrawal = (
  db: Db,
  row: Omit<WithdrawalRow, 'status' | 'tx_hash' | 'failure_code' | 'failure_message' | 'elapsed'>,
): Promise<WithdrawalRow> =>
  db.one(sql.type(Row)`
    insert into withdrawals (withdrawal_id, account_id, wallet_id, owner, amount, destination_address,
      destination_token_account, created_at, pending_until)
    values (${row.withdrawal_id}, ${row.account_id}, ${row.wallet_id}, ${row.owner}, ${row.amount},
      ${row.destination_address}, ${row.destination_token_account},
      to_timestamp(${row.created_at}::float8 / 1000), to_timestamp(${row.pending_until}::float8 / 1000))
    returning ${columns}`);

/** Whose it is does not matter: for the service's own use, never straight into an answer. */
export const lookUpWithdrawal = (db: Db, withdrawalId: string): Promise<WithdrawalRow> =>
  db.one(sql.type(Row)`select ${columns} from withdrawals where withdrawal_id = ${withdrawalId}`);

/** The account's withdrawal, or null: another's does not exist for it. */
export const findWithdrawal = (
  db: Db,
  accountId: string,
  withdrawalId: string,
): Promise<WithdrawalRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from withdrawals where account_id = ${accountId} and withdrawal_id = ${withdrawalId}`);

export type WithdrawalScope = {
  account_id: string;
  wallet_id?: string | undefined;
  status?: WithdrawalRow['status'] | undefined;
};

/** A page of the account's withdrawals, newest first, and one more. */
export const listWithdrawals = (
  db: Db,
  { account_id, wallet_id, status }: WithdrawalScope,
  page: Page,
): Promise<readonly WithdrawalRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from withdrawals
    where account_id = ${account_id} ${matching({ wallet_id })} ${andStatusIs('withdrawal', status)}
      ${pageBy('withdrawal_id', page)}`);
