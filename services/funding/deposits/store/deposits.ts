import { z } from 'zod';
import { DepositStatus, OnrampProvider } from '../../../../shared/contract/funding.deposits.ts';
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
  looks: z.number(),
  created_at: z.number(),
  expires_at: z.number(),
  completed_at: z.number().nullable(),
  // Of the moment of reading.
  elapsed: z.boolean(),
});
export type DepositRow = z.infer<typeof Row>;

const columns = sql.fragment`deposits.deposit_id, account_id, wallet_id, owner, provider, fiat_currency, fiat_amount,
  status, payment_url, promised_amount, amount, tx_hash, problem_code, problem_message, looks, created_at, expires_at,
  completed_at, expires_at <= app_now() as elapsed`;

/** Writes a new deposit, before its provider is asked. What is still `created` after 15 min was left by a crash. */
export const insertDeposit = (
  db: Db,
  row: Pick<
    DepositRow,
    'deposit_id' | 'account_id' | 'wallet_id' | 'owner' | 'provider' | 'fiat_currency' | 'fiat_amount'
  >,
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into deposits (deposit_id, account_id, wallet_id, owner, provider, fiat_currency, fiat_amount, expires_at)
    values (${row.deposit_id}, ${row.account_id}, ${row.wallet_id}, ${row.owner}, ${row.provider},
      ${row.fiat_currency}, ${row.fiat_amount}, app_now() + interval '15 minutes')`);

/** Keeps the payment page; a report that came first is not undone. */
export const openDeposit = (
  db: Db,
  depositId: string,
  { paymentUrl, promisedMicro }: { paymentUrl: string; promisedMicro: bigint | null },
): Promise<DepositRow> =>
  db.one(sql.type(Row)`
    update deposits set payment_url = ${paymentUrl},
      promised_amount = coalesce(promised_amount, ${promisedMicro}),
      status = case when ${state.isFrom('opened')} then ${state.after('opened')} else status end,
      look_at = least(look_at, app_now() + interval '10 seconds'), expires_at = app_now() + interval '24 hours'
    where deposit_id = ${depositId}
    returning ${columns}`);

/** Whose it is does not matter: for the service's own use, never straight into an answer. */
export const lookUpDeposit = (db: Db, depositId: string): Promise<DepositRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from deposits where deposit_id = ${depositId}`);

/** The account's deposit, or null: another's does not exist for it. */
export const findDeposit = (db: Db, accountId: string, depositId: string): Promise<DepositRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from deposits where deposit_id = ${depositId} and account_id = ${accountId}`);

export type DepositScope = {
  account_id: string;
  status?: DepositStatus | undefined;
  wallet_id?: string | undefined;
};

/** A page of the account's deposits, newest first, and one more. */
export const listDeposits = (
  db: Db,
  { account_id, status, wallet_id }: DepositScope,
  page: Page,
): Promise<readonly DepositRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from deposits
    where account_id = ${account_id} ${matching({ status, wallet_id })} ${pageBy('deposit_id', page)}`);

/**
 * The transition of a deposit by an event, after which it is looked at soon; nothing happens in a
 * state that the event does not belong to. Returns whether it changed.
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
      look_at = ${event === 'elapsed' ? null : sql.fragment`app_now()`}, looks = 0
    where deposit_id = ${depositId} and ${state.allows(event)}`);
  return rowCount > 0;
};

/** Something new was named: a settling deposit is looked for again, whatever was found before. */
export const lookAgain = (db: Db, depositId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update deposits set look_at = app_now(), looks = 0, problem_code = null, problem_message = null
    where deposit_id = ${depositId} and ${state.allows('seen')}`);

/** The customer has begun to pay: a bank transfer takes days. */
export const waitLonger = (db: Db, depositId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update deposits set expires_at = greatest(expires_at, app_now() + interval '7 days')
    where deposit_id = ${depositId} and ${state.allows('elapsed')}`);

/** Completes a settling deposit by a transfer. @throws on the unique index when another took it meanwhile */
export const completeDeposit = async (
  db: Db,
  depositId: string,
  { txHash, instruction, amountMicro }: { txHash: string; instruction: string; amountMicro: bigint },
): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update deposits set status = ${state.after('seen')}, tx_hash = ${txHash}, tx_instruction = ${instruction}, amount = ${amountMicro},
      completed_at = app_now(), look_at = null, problem_code = null, problem_message = null
    where deposit_id = ${depositId} and ${state.allows('seen')}`);
  return rowCount > 0;
};

/** Places of a transaction that have completed deposits. */
export const takenInstructions = (db: Db, txHash: string): Promise<readonly string[]> =>
  db.anyFirst(
    sql.type(z.object({ tx_instruction: z.string() }))`
      select tx_instruction from deposits where tx_hash = ${txHash} and tx_instruction is not null`,
  );

/**
 * Says on a settling deposit what is wrong with it, unless something new was named since it was claimed for this
 * look (which begins the count of looks anew). Returns whether that was not said already.
 * @param final a person decides: it is not looked for again until the provider names something new
 */
export const flagDeposit = async (
  db: Db,
  { deposit_id: depositId, looks }: Pick<DepositRow, 'deposit_id' | 'looks'>,
  { code, message }: DepositProblem,
  { final }: { final: boolean },
): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update deposits set problem_code = ${code}, problem_message = ${message},
      look_at = ${final ? null : sql.fragment`look_at`}
    where deposit_id = ${depositId} and ${state.allows('seen')} and looks = ${looks}
      and problem_code is distinct from ${code}`);
  return rowCount > 0;
};

/** Nothing more is expected of an end that the provider told. */
export const stopLooking = (db: Db, depositId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update deposits set look_at = null
    where deposit_id = ${depositId} and ${state.is('failed', 'cancelled', 'expired')}`);

/**
 * Claims deposits that are due for a look, each with its next one: 2 s, 4 s, 8 s … at most 10 min later. A transfer
 * that was sent is final within seconds and somebody waits for it, so while settling each pause is taken eight times,
 * and those come first: a provider that hangs must not hold up what only the chain has to be asked about.
 */
export const claimDueDeposits = (db: Db, limit: number): Promise<readonly DepositRow[]> =>
  db.any(sql.type(Row)`
    with due as (
      select deposit_id from deposits where look_at <= app_now()
      order by ${state.is('settling')} desc, look_at limit ${limit} for update skip locked
    )
    update deposits set looks = looks + 1,
      look_at = app_now() + make_interval(secs =>
        least(600, 2 ^ least(1 + case status when 'settling' then looks / 8 else looks end, 10))::float8)
    from due where deposits.deposit_id = due.deposit_id
    returning ${columns}`);
