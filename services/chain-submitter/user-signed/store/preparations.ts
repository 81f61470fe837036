import { z } from 'zod';
import { type Db, type Pool, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { preparations } from '../model.ts';

const Row = z.object({
  preparation_id: z.string(),
  kind: z.enum(['delegation', 'withdrawal', 'refund']),
  account_id: z.string(),
  /** Whose budget pays for the co-signature. */
  budget_account_id: z.string(),
  owner: z.string(),
  /** What the intent is told when it is submitted. */
  request: z.unknown(),
  message: z.instanceof(Buffer),
  creates: z.string().nullable(),
  last_valid_block_height: z.bigint(),
  expires_at: z.number(),
  status: z.enum(preparations.states),
  submitted_message: z.instanceof(Buffer).nullable(),
  tx_hash: z.string().nullable(),
});
export type PreparationRow = z.infer<typeof Row>;

const state = stateColumn(preparations);
const known = stateColumn(preparations, sql.fragment`p.status`);
const columns = sql.fragment`preparation_id, kind, account_id,
  coalesce(budget_account_id, account_id) as budget_account_id, owner, request, message, creates,
  last_valid_block_height, expires_at, status, submitted_message, tx_hash`;

/** The intent that a preparation becomes. One id each, so that one submission of each is all there can ever be. */
export const intentIdOf = ({
  kind,
  preparation_id,
}: Pick<PreparationRow, 'kind' | 'preparation_id'>): string => `${kind}:${preparation_id}`;

/** The preparation, or null. */
export const findPreparation = (db: Db, preparationId: string): Promise<PreparationRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from preparations where preparation_id = ${preparationId}`);

/** The same, once no submission of it is being committed any more. */
export const lockPreparation = (db: Db, preparationId: string): Promise<PreparationRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from preparations where preparation_id = ${preparationId} for share`);

/**
 * Writes a preparation and replaces what was open under the same id, for a delegation also for the same wallet. False
 * when this one was submitted or cancelled: those never change. Times are epoch milliseconds.
 */
export const replacePreparation = (
  pool: Pool,
  row: Omit<PreparationRow, 'status' | 'submitted_message' | 'tx_hash'>,
): Promise<boolean> =>
  pool.transaction(async (tx) => {
    if (row.kind === 'delegation') {
      // Two preparations of one wallet at once: one after the other, so that neither meets the unique index.
      await tx.query(sql.type(z.unknown())`
        select pg_advisory_xact_lock(hashtextextended('preparation/' || ${row.owner}, 0))`);
      await tx.query(sql.typeAlias('void')`
        update preparations set status = ${state.after('replace')}
        where kind = 'delegation' and owner = ${row.owner} and ${state.isFrom('replace')}
          and preparation_id <> ${row.preparation_id}`);
    }
    const written = await tx.maybeOne(sql.type(z.object({ preparation_id: z.string() }))`
      insert into preparations as p (preparation_id, kind, account_id, budget_account_id, owner, request, message, creates,
        last_valid_block_height, expires_at)
      values (${row.preparation_id}, ${row.kind}, ${row.account_id}, ${row.budget_account_id}, ${row.owner},
        ${JSON.stringify(row.request)}::jsonb, ${sql.binary(row.message)}, ${row.creates},
        ${row.last_valid_block_height}, to_timestamp(${row.expires_at}::float8 / 1000))
      on conflict (preparation_id) do update set message = excluded.message, creates = excluded.creates,
        request = excluded.request, status = ${state.after('prepare')},
        last_valid_block_height = excluded.last_valid_block_height, expires_at = excluded.expires_at
      where ${known.allows('prepare')} and p.kind = excluded.kind and p.account_id = excluded.account_id
        and p.owner = excluded.owner
      returning preparation_id`);
    return written !== null;
  });

/**
 * Makes the preparation's only submission. False when it is no longer open: replaced, cancelled, submitted or prepared
 * anew with other bytes meanwhile. For the transaction that also writes the intent.
 */
export const submitPreparation = async (
  db: Db,
  preparation: PreparationRow,
  submitted: { message: Uint8Array; txHash: string },
): Promise<boolean> => {
  const row = await db.maybeOne(sql.type(z.object({ preparation_id: z.string() }))`
    update preparations set status = ${state.after('submit')}, tx_hash = ${submitted.txHash},
      submitted_message = ${sql.binary(Buffer.from(submitted.message))}
    where preparation_id = ${preparation.preparation_id} and ${state.allows('submit')}
      and message = ${sql.binary(preparation.message)}
    returning preparation_id`);
  return row !== null;
};

/** Whether a user may still sign a transaction that creates the owner's token account. */
export const isCreationPrepared = (db: Db, owner: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ prepared: z.boolean() }))`
    select exists (
      select from preparations
      where creates = ${owner} and status = 'open' and expires_at > app_now()) as prepared`);

/** Ends a preparation for good. False when it was submitted before, or is not there. Repeatable. */
export const cancelPreparation = async (db: Db, preparationId: string): Promise<boolean> => {
  const row = await db.maybeOne(sql.type(z.object({ preparation_id: z.string() }))`
    update preparations set status = ${state.after('cancel')}
    where preparation_id = ${preparationId} and ${state.allows('cancel')}
    returning preparation_id`);
  return row !== null;
};
