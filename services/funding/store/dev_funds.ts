import { z } from 'zod';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import { chainWork, UNDECIDED } from '../../../shared/lib/chain-work.ts';

const state = stateColumn(chainWork);

const Row = z.object({
  fund_id: z.string(),
  account_id: z.string(),
  wallet_id: z.string(),
  owner: z.string(),
  amount: z.bigint(),
  status: z.enum(chainWork.states),
  drive: z.number(),
  tx_hash: z.string().nullable(),
  slot: z.bigint().nullable(),
  failure_message: z.string().nullable(),
  created_at: z.number(),
});
export type DevFundRow = z.infer<typeof Row>;

const columns = sql.fragment`dev_funds.fund_id, account_id, wallet_id, owner, amount, status, drive, tx_hash,
  slot, failure_message, created_at`;

/** Writes a new request for test funds. */
export const insertDevFund = (
  db: Db,
  row: Pick<DevFundRow, 'fund_id' | 'account_id' | 'wallet_id' | 'owner' | 'amount'>,
): Promise<DevFundRow> =>
  db.one(sql.type(Row)`
    insert into dev_funds (fund_id, account_id, wallet_id, owner, amount)
    values (${row.fund_id}, ${row.account_id}, ${row.wallet_id}, ${row.owner}, ${row.amount})
    returning ${columns}`);

/** A request that exists. */
export const devFundById = (db: Db, fundId: string): Promise<DevFundRow> =>
  db.one(sql.type(Row)`select ${columns} from dev_funds where fund_id = ${fundId}`);

/**
 * Takes over how far a request has come, unless more is known: the row then, else null. The slot stays what the first
 * confirmation said, so that a failure after it is known for a transfer that was undone.
 */
export const transitionDevFund = (db: Db, fact: Progress): Promise<DevFundRow | null> => {
  const { status } = fact;
  const landedSlot = status === 'confirmed' || status === 'finalized' ? fact.slot : null;
  return db.maybeOne(sql.type(Row)`
    update dev_funds set status = ${state.after(status)}, generation = ${fact.generation}, tx_hash = coalesce(${fact.tx_hash}, tx_hash),
      slot = coalesce(${landedSlot}::bigint, slot), failure_message = ${fact.failure?.message ?? null},
      progressed_at = app_now()
    where fund_id = ${fact.object_id} and generation <= ${fact.generation} and ${state.allows(status)}
    returning ${columns}`);
};

/** Claims requests that made no progress for 15 s, each with its next drive number. */
export const claimStalledDevFunds = (tx: Db): Promise<readonly DevFundRow[]> =>
  tx.any(sql.type(Row)`
    with due as (
      select fund_id from dev_funds
      where ${state.is(...UNDECIDED)} and progressed_at < app_now() - interval '15 seconds'
      order by progressed_at limit 100 for update skip locked
    )
    update dev_funds set drive = drive + 1, progressed_at = app_now()
    from due where dev_funds.fund_id = due.fund_id
    returning ${columns}`);
