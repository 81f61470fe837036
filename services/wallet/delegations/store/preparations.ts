import { z } from 'zod';
import type { Progress } from '../../../../shared/contract/chain-submitter.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { chainWork } from '../../../../shared/lib/chain/chain-work.ts';

const state = stateColumn(chainWork);

const Row = z.object({
  preparation_id: z.string(),
  wallet_id: z.string(),
  kind: z.enum(['approve', 'revoke']),
  allowance: z.bigint().nullable(),
  status: z.enum(chainWork.states),
  slot: z.bigint().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
});
export type PreparationRow = z.infer<typeof Row>;

const columns = sql.fragment`preparation_id, wallet_id, kind, allowance, status, slot, failure_code, failure_message`;

export const insertPreparation = (
  db: Db,
  row: Pick<PreparationRow, 'preparation_id' | 'wallet_id' | 'kind' | 'allowance'>,
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into preparations (preparation_id, wallet_id, kind, allowance)
    values (${row.preparation_id}, ${row.wallet_id}, ${row.kind}, ${row.allowance})`);

/** The wallet's latest preparation of a kind, or null when it has none. */
export const findLatestPreparation = (
  db: Db,
  walletId: string,
  kind: PreparationRow['kind'],
): Promise<PreparationRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from preparations where wallet_id = ${walletId} and kind = ${kind}
    order by preparation_id desc limit 1`);

/** A preparation that exists. */
export const getPreparation = (db: Db, preparationId: string): Promise<PreparationRow> =>
  db.one(sql.type(Row)`select ${columns} from preparations where preparation_id = ${preparationId}`);

/** Records that the signed transaction is submitted, unless later progress is recorded. */
export const recordSubmission = (db: Db, preparationId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update preparations set status = ${state.after('submit')}, progressed_at = app_now(), submitted_at = app_now()
    where preparation_id = ${preparationId} and ${state.allows('submit')}`);

/** Records the progress of a preparation, unless later progress is recorded. */
export const transitionPreparation = (db: Db, progress: Progress): Promise<unknown> => {
  const { object_id, status, generation, slot } = progress;
  const failure =
    status === 'failed'
      ? (progress.failure ?? { code: 'payment_failed', message: 'the transaction failed' })
      : null;
  return db.query(sql.typeAlias('void')`
    update preparations set status = ${state.after(status)}, generation = ${generation}, slot = ${slot},
      failure_code = ${failure?.code ?? null}, failure_message = ${failure?.message ?? null},
      progressed_at = app_now(), submitted_at = coalesce(submitted_at, app_now())
    where preparation_id = ${object_id} and generation <= ${generation}
      and ${state.allows(status)}`);
};

/** Deletes the preparations of wallets. */
export const deletePreparations = (tx: Db, walletIds: readonly string[]): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    delete from preparations where wallet_id = any(${sql.array([...walletIds], 'text')})`);
