import { z } from 'zod';
import { Client } from '../../../../shared/contract/client.ts';
import { notFound } from '../../../../shared/contract/errors.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { matching, type Page, pageBy } from '../../../../shared/lists/page.ts';
import { withdrawals } from '../model/withdrawal.ts';
import { andStatusIs, transferColumns, transferShape, withdrawalState } from '../store.ts';

const Row = z.object({
  withdrawal_id: z.string(),
  account_id: z.string(),
  wallet_id: z.string(),
  owner: z.string(),
  ...transferShape('pending_approval'),
});
export type WithdrawalRow = z.infer<typeof Row>;

const columns = sql.fragment`withdrawal_id, account_id, wallet_id, owner, ${transferColumns}`;

/** Inserts a withdrawal that is prepared. Times are epoch milliseconds. */
export const insertWithdrawal = (
  db: Db,
  row: Omit<
    WithdrawalRow,
    'status' | 'tx_hash' | 'failure_code' | 'failure_message' | 'confirmed_at' | 'elapsed'
  >,
): Promise<WithdrawalRow> =>
  db.one(sql.type(Row)`
    insert into withdrawals (withdrawal_id, account_id, wallet_id, owner, amount, destination_address,
      destination_token_account, created_at, pending_until)
    values (${row.withdrawal_id}, ${row.account_id}, ${row.wallet_id}, ${row.owner}, ${row.amount},
      ${row.destination_address}, ${row.destination_token_account},
      to_timestamp(${row.created_at}::float8 / 1000), to_timestamp(${row.pending_until}::float8 / 1000))
    returning ${columns}`);

/** A withdrawal of any account: for use inside the service, never directly for an answer. */
export const getWithdrawalUnscoped = (db: Db, withdrawalId: string): Promise<WithdrawalRow> =>
  db.one(sql.type(Row)`select ${columns} from withdrawals where withdrawal_id = ${withdrawalId}`);

/** The account's withdrawal. @throws ServiceError not_found for one of another account, too */
export const getWithdrawal = async (
  db: Db,
  accountId: string,
  withdrawalId: string,
): Promise<WithdrawalRow> => {
  const row = await db.maybeOne(sql.type(Row)`
    select ${columns} from withdrawals where account_id = ${accountId} and withdrawal_id = ${withdrawalId}`);
  if (row === null) throw notFound('withdrawal');
  return row;
};

/** Records from where the call came that submits a withdrawal, for the note of its acceptance. */
export const recordApprover = (db: Db, withdrawalId: string, client: Client | null): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update withdrawals set approver = ${client === null ? null : JSON.stringify(client)}::jsonb
    where withdrawal_id = ${withdrawalId} and ${withdrawalState.is('pending_approval')}`);

const Approved = z.object({ account_id: z.string(), client: Client.nullable() });
export type Approved = z.infer<typeof Approved>;

/**
 * Locks a withdrawal that waits for its approval, and returns from where it was approved. Call it
 * before its first progress is recorded. Null: that was recorded before.
 */
export const takeApprover = (tx: Db, withdrawalId: string): Promise<Approved | null> =>
  tx.maybeOne(sql.type(Approved)`
    with waiting as (
      select withdrawal_id, account_id, approver from withdrawals
      where withdrawal_id = ${withdrawalId} and ${withdrawalState.is('pending_approval')} for update)
    update withdrawals set approver = null from waiting
    where withdrawals.withdrawal_id = waiting.withdrawal_id
    returning waiting.account_id, waiting.approver as client`);

/** Erases from where withdrawals were approved whose approval was refused. */
export const eraseApprovers = (db: Db, accountId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update withdrawals set approver = null where account_id = ${accountId} and approver is not null`);

type WithdrawalQuery = {
  account_id: string;
  wallet_id?: string | undefined;
  status?: WithdrawalRow['status'] | undefined;
};

/**
 * A page of the account's withdrawals, newest first, and one row more where there is a next page.
 */
export const listWithdrawals = (
  db: Db,
  { account_id, wallet_id, status }: WithdrawalQuery,
  page: Page,
): Promise<readonly WithdrawalRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from withdrawals
    where account_id = ${account_id} ${matching({ wallet_id })} ${andStatusIs('withdrawal', status)}
      ${pageBy('withdrawal_id', page)}`);

/** Whether a withdrawal of an account has no final outcome. */
export const hasOpenWithdrawals = (db: Db, accountId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ open: z.boolean() }))`
    select exists (
      select from withdrawals where account_id = ${accountId} and ${withdrawalState.is(...withdrawals.open)}
    ) as open`);
