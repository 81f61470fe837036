import { z } from 'zod';
import { type Db, type Pool, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { preparations } from '../model/preparation.ts';

const Row = z.object({
  preparation_id: z.string(),
  kind: z.enum(['delegation', 'withdrawal', 'refund']),
  account_id: z.string(),
  /** The account whose budget pays for the co-signature. */
  budget_account_id: z.string(),
  owner: z.string(),
  /** Becomes the request of the intent when the transaction is submitted. */
  request: z.unknown(),
  message: z.instanceof(Buffer),
  creates: z.string().nullable(),
  last_valid_block_height: z.bigint(),
  expires_at: z.number(),
  status: z.enum(preparations.states),
  submitted_message: z.instanceof(Buffer).nullable(),
  signature: z.string().nullable(),
});
export type PreparationRow = z.infer<typeof Row>;

const state = stateColumn(preparations);
const known = stateColumn(preparations, sql.fragment`p.status`);
const columns = sql.fragment`preparation_id, kind, account_id,
  coalesce(budget_account_id, account_id) as budget_account_id, owner, request, message, creates,
  last_valid_block_height, expires_at, status, submitted_message, signature`;

export const findPreparation = (db: Db, preparationId: string): Promise<PreparationRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from preparations where preparation_id = ${preparationId}`);

/** The preparation, after any concurrent submission of it has committed; null without one. */
export const lockPreparation = (db: Db, preparationId: string): Promise<PreparationRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from preparations where preparation_id = ${preparationId} for share`);

/**
 * Writes a preparation. It replaces an open one of the same id, and for a delegation of the same
 * wallet. Times are epoch milliseconds.
 * @returns false when this preparation was submitted or cancelled, because those never change
 */
export const replacePreparation = (
  pool: Pool,
  row: Omit<PreparationRow, 'status' | 'submitted_message' | 'signature'>,
): Promise<boolean> =>
  pool.transaction(async (tx) => {
    if (row.kind === 'delegation') {
      // Concurrent preparations of one wallet run one after the other, so that neither violates the
      // unique index.
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
 * Makes the preparation's only submission, in the transaction that also writes the intent.
 * @returns false when the preparation is not open any more, or was prepared again with other bytes
 */
export const submitPreparation = async (
  db: Db,
  preparation: PreparationRow,
  submitted: { message: Uint8Array; signature: string },
): Promise<boolean> => {
  const row = await db.maybeOne(sql.type(z.object({ preparation_id: z.string() }))`
    update preparations set status = ${state.after('submit')}, signature = ${submitted.signature},
      submitted_message = ${sql.binary(Buffer.from(submitted.message))}
    where preparation_id = ${preparation.preparation_id} and ${state.allows('submit')}
      and message = ${sql.binary(preparation.message)}
    returning preparation_id`);
  return row !== null;
};

/**
 * Whether an open preparation, which its user may still sign, creates the owner's token account.
 */
export const isCreationPrepared = (db: Db, owner: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ prepared: z.boolean() }))`
    select exists (
      select from preparations
      where creates = ${owner} and status = 'open' and expires_at > app_now()) as prepared`);

/** Cancels a preparation for good. Repeatable. False when it was submitted, or does not exist. */
export const cancelPreparation = async (db: Db, preparationId: string): Promise<boolean> => {
  const row = await db.maybeOne(sql.type(z.object({ preparation_id: z.string() }))`
    update preparations set status = ${state.after('cancel')}
    where preparation_id = ${preparationId} and ${state.allows('cancel')}
    returning preparation_id`);
  return row !== null;
};

/** Messages of open preparations, as long as they can be submitted. */
export const listOpenMessages = (db: Db): Promise<readonly Buffer[]> =>
  db.anyFirst(sql.type(z.object({ bytes: z.instanceof(Buffer) }))`
    select message as bytes from preparations where ${state.isFrom('submit')} and expires_at > app_now()`);
