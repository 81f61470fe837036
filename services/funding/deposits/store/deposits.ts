import { z } from 'zod';
import { notFound } from '../../../../shared/contract/errors.ts';
import { DepositStatus, OnrampProvider } from '../../../../shared/contract/funding/deposits.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { matching, type Page, pageBy } from '../../../../shared/lists/page.ts';
import { type DepositEvent, type DepositProblem, deposits } from '../model.ts';

const state = stateColumn(deposits);

const Row = z.object({
  deposit_id: z.string(),
  account_id: z.string(),
  wallet_id: z.string(),
  owner: z.string(),
  provider: OnrampProvider,
  fiat_currency: z.string(),
  fiat_amount: z.string(),
  status: DepositStatus,
  payment_url: z.string().nullable(),
  promised_amount: z.bigint().nullable(),
  amount: z.bigint().nullable(),
  tx_hash: z.string().nullable(),
  problem_code: z.string().nullable(),
  problem_message: z.string().nullable(),
  poll_count: z.number(),
  created_at: z.number(),
  expires_at: z.number(),
  completed_at: z.number().nullable(),
  // Computed when the row is read.
  elapsed: z.boolean(),
});
export type DepositRow = z.infer<typeof Row>;

const columns = sql.fragment`deposits.deposit_id, account_id, wallet_id, owner, provider, fiat_currency, fiat_amount,
  status, payment_url, promised_amount, amount, tx_hash, problem_code, problem_message, poll_count, created_at, expires_at,
  completed_at, expires_at <= app_now() as elapsed`;

export type NewDeposit = Pick<
  DepositRow,
  'deposit_id' | 'account_id' | 'wallet_id' | 'owner' | 'provider' | 'fiat_currency' | 'fiat_amount'
>;

/**
 * Inserts a deposit before its provider is called. A deposit that is still `created` after 15
 * minutes was left by a crash.
 */
export const insertDeposit = (db: Db, row: NewDeposit): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into deposits (deposit_id, account_id, wallet_id, owner, provider, fiat_currency, fiat_amount, expires_at)
    values (${row.deposit_id}, ${row.account_id}, ${row.wallet_id}, ${row.owner}, ${row.provider},
      ${row.fiat_currency}, ${row.fiat_amount}, app_now() + interval '15 minutes')`);

/** Records the payment page. The effect of a report that arrived first is not undone. */
export const openDeposit = (
  db: Db,
  depositId: string,
  { paymentUrl, promisedMicro }: { paymentUrl: string; promisedMicro: bigint | null },
): Promise<DepositRow> =>
  db.one(sql.type(Row)`
    update deposits set payment_url = ${paymentUrl},
      promised_amount = coalesce(promised_amount, ${promisedMicro}),
      status = case when ${state.isFrom('opened')} then ${state.after('opened')} else status end,
      poll_at = least(poll_at, app_now() + interval '10 seconds'), expires_at = app_now() + interval '24 hours'
    where deposit_id = ${depositId}
    returning ${columns}`);

/** A deposit of any account: for use inside the service, never directly for an answer. */
export const findDepositUnscoped = (db: Db, depositId: string): Promise<DepositRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from deposits where deposit_id = ${depositId}`);

/** The account's deposit. @throws ServiceError not_found for the deposit of another account, too */
export const getDeposit = async (db: Db, accountId: string, depositId: string): Promise<DepositRow> => {
  const row = await db.maybeOne(sql.type(Row)`
    select ${columns} from deposits where deposit_id = ${depositId} and account_id = ${accountId}`);
  if (row === null) throw notFound('deposit');
  return row;
};

type DepositQuery = {
  account_id: string;
  status?: DepositStatus | undefined;
  wallet_id?: string | undefined;
};

/** A page of the account's deposits, newest first, and one row more where there is a next page. */
export const listDeposits = (
  db: Db,
  { account_id, status, wallet_id }: DepositQuery,
  page: Page,
): Promise<readonly DepositRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from deposits
    where account_id = ${account_id} ${matching({ status, wallet_id })} ${pageBy('deposit_id', page)}`);

/**
 * Applies an event to a deposit and makes its next poll due at once. An event that does not apply
 * to the deposit's state changes nothing.
 * @returns whether the deposit changed
 */
export const transitionDeposit = async (
  db: Db,
  depositId: string,
  event: Exclude<DepositEvent, 'opened' | 'seen'>,
  {
    promisedMicro = null,
    problem = null,
  }: { promisedMicro?: bigint | null; problem?: DepositProblem | null } = {},
): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update deposits set status = ${state.after(event)}, promised_amount = coalesce(${promisedMicro}, promised_amount),
      problem_code = ${problem?.code ?? null}, problem_message = ${problem?.message ?? null},
      poll_at = ${event === 'elapsed' ? null : sql.fragment`app_now()`}, poll_count = 0
    where deposit_id = ${depositId} and ${state.allows(event)}`);
  return rowCount > 0;
};

/** Polls the chain again for a settling deposit, because its provider named another transaction. */
export const restartPolling = (db: Db, depositId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update deposits set poll_at = app_now(), poll_count = 0, problem_code = null, problem_message = null
    where deposit_id = ${depositId} and ${state.allows('seen')}`);

/** Extends the life of a deposit whose customer has begun to pay: a bank transfer takes days. */
export const extendExpiry = (db: Db, depositId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update deposits set expires_at = greatest(expires_at, app_now() + interval '7 days')
    where deposit_id = ${depositId} and ${state.allows('elapsed')}`);

/**
 * Completes a settling deposit by a transfer.
 * @throws UniqueIntegrityConstraintViolationError when the transfer has completed another deposit
 */
export const completeDeposit = async (
  db: Db,
  depositId: string,
  { txHash, instruction, amountMicro }: { txHash: string; instruction: string; amountMicro: bigint },
): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update deposits set status = ${state.after('seen')}, tx_hash = ${txHash}, tx_instruction = ${instruction}, amount = ${amountMicro},
      completed_at = app_now(), poll_at = null, problem_code = null, problem_message = null
    where deposit_id = ${depositId} and ${state.allows('seen')}`);
  return rowCount > 0;
};

/** The instructions of a transaction that have completed deposits. */
export const listCountedInstructions = (db: Db, txHash: string): Promise<readonly string[]> =>
  db.anyFirst(
    sql.type(z.object({ tx_instruction: z.string() }))`
      select tx_instruction from deposits where tx_hash = ${txHash} and tx_instruction is not null`,
  );

/**
 * Records a problem of a settling deposit. Nothing is recorded when the provider has named another
 * transaction since the deposit was claimed for this poll, because that resets the poll count.
 * @param final true when an operator must decide: polling stops until the provider names another
 * transaction
 * @returns whether the problem is new
 */
export const recordProblem = async (
  db: Db,
  { deposit_id: depositId, poll_count }: Pick<DepositRow, 'deposit_id' | 'poll_count'>,
  { code, message }: DepositProblem,
  { final }: { final: boolean },
): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update deposits set problem_code = ${code}, problem_message = ${message},
      poll_at = ${final ? null : sql.fragment`poll_at`}
    where deposit_id = ${depositId} and ${state.allows('seen')} and poll_count = ${poll_count}
      and problem_code is distinct from ${code}`);
  return rowCount > 0;
};

/** Stops polling a deposit that has failed, was cancelled or has expired. */
export const stopPolling = (db: Db, depositId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update deposits set poll_at = null
    where deposit_id = ${depositId} and ${state.is('failed', 'cancelled', 'expired')}`);

/**
 * Claims deposits that are due for a poll and schedules the next poll 2 s, 4 s, 8 s … at most 10
 * minutes later. The transfer of a settling deposit is finalized within seconds while a customer
 * waits, so each of its pauses is used eight times. Settling deposits come first, so that a
 * provider that hangs cannot delay deposits that only need the chain.
 */
export const claimDueDeposits = (db: Db, limit: number): Promise<readonly DepositRow[]> =>
  db.any(sql.type(Row)`
    with due as (
      select deposit_id from deposits where poll_at <= app_now()
      order by ${state.is('settling')} desc, poll_at limit ${limit} for update skip locked
    )
    update deposits set poll_count = poll_count + 1,
      poll_at = app_now() + make_interval(secs =>
        least(600, 2 ^ least(1 + case status when 'settling' then poll_count / 8 else poll_count end, 10))::float8)
    from due where deposits.deposit_id = due.deposit_id
    returning ${columns}`);

/** Whether a deposit of an account may still be paid or arrive. */
export const hasOpenDeposits = (db: Db, accountId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ open: z.boolean() }))`
    select exists (
      select from deposits where account_id = ${accountId} and ${state.is(...deposits.open)}
    ) as open`);

/** Erases the payment pages of an account's deposits. */
export const erasePaymentUrls = (db: Db, accountId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update deposits set payment_url = null where account_id = ${accountId} and payment_url is not null`);
