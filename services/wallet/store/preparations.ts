import { z } from 'zod';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import { chainWork } from '../../../shared/lib/chain-work.ts';

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

/** Writes what was just prepared. */
export const insertPreparation = (
  db: Db,
  row: Pick<PreparationRow, 'preparation_id' | 'wallet_id' | 'kind' | 'allowance'>,
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into preparations (preparation_id, wallet_id, kind, allowance)
    values (${row.preparation_id}, ${row.wallet_id}, ${row.kind}, ${row.allowance})`);

/** The wallet's newest preparation of a kind, or null when there was none. */
export const latestPreparation = (
  db: Db,
  walletId: string,
  kind: PreparationRow['kind'],
): Promise<PreparationRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from preparations where wallet_id = ${walletId} and kind = ${kind}
    order by preparation_id desc limit 1`);

/** A preparation that exists. */
export const preparationById = (db: Db, preparationId: string): Promise<PreparationRow> =>
  db.one(sql.type(Row)`select ${columns} from preparations where preparation_id = ${preparationId}`);

/** Notes that the signed bytes are on their way; a fact that was faster stays. */
export const markSubmitted = (db: Db, preparationId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update preparations set status = ${state.after('submit')}, progressed_at = app_now(), submitted_at = app_now()
    where preparation_id = ${preparationId} and ${state.allows('submit')}`);

/** Takes over how far a preparation has come, unless more is known. */
export const transitionPreparation = (db: Db, fact: Progress): Promise<unknown> => {
  const { status } = fact;
  const failure =
    status === 'failed'
      ? (fact.failure ?? { code: 'payment_failed', message: 'the transaction failed' })
      : null;
  return db.query(sql.typeAlias('void')`
    update preparations set status = ${state.after(status)}, generation = ${fact.generation}, slot = ${fact.slot},
      failure_code = ${failure?.code ?? null}, failure_message = ${failure?.message ?? null},
      progressed_at = app_now(), submitted_at = coalesce(submitted_at, app_now())
    where preparation_id = ${fact.object_id} and generation <= ${fact.generation}
      and ${state.allows(status)}`);
};
