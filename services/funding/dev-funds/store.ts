import { z } from 'zod';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import { chainWork, UNDECIDED } from '../../../shared/lib/chain/chain-work.ts';

const state = stateColumn(chainWork);

const Row = z.object({
  fund_id: z.string(),
  account_id: z.string(),
  wallet_id: z.string(),
  owner: z.string(),
  amount: z.bigint(),
  status: z.enum(chainWork.states),
  dispatch_count: z.number(),
  tx_hash: z.string().nullable(),
  slot: z.bigint().nullable(),
  failure_message: z.string().nullable(),
  created_at: z.number(),
});
export type DevFundRow = z.infer<typeof Row>;

const columns = sql.fragment`dev_funds.fund_id, account_id, wallet_id, owner, amount, status, dispatch_count, tx_hash,
  slot, failure_message, created_at`;

/** Inserts a request for test funds. */
export const insertDevFund = (
  db: Db,
  row: Pick<DevFundRow, 'fund_id' | 'account_id' | 'wallet_id' | 'owner' | 'amount'>,
): Promise<DevFundRow> =>
  db.one(sql.type(Row)`
    insert into dev_funds (fund_id, account_id, wallet_id, owner, amount)
    values (${row.fund_id}, ${row.account_id}, ${row.wallet_id}, ${row.owner}, ${row.amount})
    returning ${columns}`);

/** A request that exists. */
export const getDevFund = (db: Db, fundId: string): Promise<DevFundRow> =>
  db.one(sql.type(Row)`select ${columns} from dev_funds where fund_id = ${fundId}`);

/**
 * Records the progress of a request, unless later progress is recorded. The slot is that of the
 * first confirmation, which distinguishes a failure after a confirmation from a transfer that never
 * happened.
 * @returns the changed row, or null when nothing changed
 */
export const transitionDevFund = (db: Db, progress: Progress): Promise<DevFundRow | null> => {
  const { object_id, status, generation, tx_hash, failure } = progress;
  const includedSlot = status === 'confirmed' || status === 'finalized' ? progress.slot : null;
  return db.maybeOne(sql.type(Row)`
    update dev_funds set status = ${state.after(status)}, generation = ${generation}, tx_hash = coalesce(${tx_hash}, tx_hash),
      slot = coalesce(${includedSlot}::bigint, slot), failure_message = ${failure?.message ?? null},
      progressed_at = app_now()
    where fund_id = ${object_id} and generation <= ${generation} and ${state.allows(status)}
    returning ${columns}`);
};

/** Claims requests that made no progress for 15 s, each with its next dispatch count. */
export const claimStalledDevFunds = (tx: Db): Promise<readonly DevFundRow[]> =>
  tx.any(sql.type(Row)`
    with due as (
      select fund_id from dev_funds
      where ${state.is(...UNDECIDED)} and progressed_at < app_now() - interval '15 seconds'
      order by progressed_at limit 100 for update skip locked
    )
    update dev_funds set dispatch_count = dispatch_count + 1, progressed_at = app_now()
    from due where dev_funds.fund_id = due.fund_id
    returning ${columns}`);

/** Whether test funds of an account are under way. */
export const hasOpenDevFunds = (db: Db, accountId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ open: z.boolean() }))`
    select exists (select from dev_funds where account_id = ${accountId} and ${state.is(...UNDECIDED)}) as open`);
