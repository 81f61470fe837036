import { z } from 'zod';
import type { Lost } from '../../../../shared/contract/chain-submitter.ts';
import { type Db, type Pool, sql } from '../../../../shared/db/pool.ts';
import { isoTime } from '../../../../shared/lib/clock.ts';

/** A transaction that began before the backup may have committed after it. */
const LATE_COMMIT = sql.fragment`interval '10 minutes'`;

/**
 * The times whose records are lost: of each restore, and of a server that has started and is not
 * checked yet, which may be a restored copy.
 */
const lostTimes = sql.fragment`(
    select taken_at, restored_at from restores
    union all
    select checked_at, app_now() from record_checks where checked_start <> pg_postmaster_start_time()
  ) as lost_times`;

const LostTime = z.object({
  since: z.number().nullable(),
  until: z.number().nullable(),
  owners: z.array(z.string()),
});

/**
 * The time whose records restores have lost, with the owners of the account's wallets; null if no
 * backup was restored. An attempt id has no time, so that any unknown one may be of that time.
 */
export const findLostTime = async (db: Db, accountId: string): Promise<Lost | null> => {
  const { since, until, owners } = await db.one(sql.type(LostTime)`
    select min(taken_at) - ${LATE_COMMIT} as since, max(restored_at) as until,
      array(select owner from payers where account_id = ${accountId} order by wallet_id) as owners
    from ${lostTimes}`);
  return since === null || until === null ? null : { since: isoTime(since), until: isoTime(until), owners };
};

/** When the records begin that restores have lost; null if no backup was restored. */
export const findLostSince = async (db: Db): Promise<string | null> => {
  const { since } = await db.one(sql.type(LostTime.pick({ since: true }))`
    select min(taken_at) - ${LATE_COMMIT} as since from ${lostTimes}`);
  return since === null ? null : isoTime(since);
};

/** Whether a restore may have lost the record of an acceptance of this quote. */
export const mayBeLost = (db: Db, quote: { issued_at: string; expires_at: string }): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ lost: z.boolean() }))`
    select exists (
      select from ${lostTimes}
      where restored_at >= ${quote.issued_at}::timestamptz
        and taken_at - ${LATE_COMMIT} < ${quote.expires_at}::timestamptz
    ) as lost`);

/** What a restore is found by that the start of the server may have been. */
const UNCHECKED = 'unchecked';
/** The check is due again after this time. */
const CHECKED_EVERY = sql.fragment`interval '1 minute'`;

const Check = z.object({
  /** The last check; null: there was none. */
  checked_at: z.number().transform(isoTime).nullable(),
  /** Events since then are of payments that the last check did not see. */
  events_since: z.number().transform(isoTime).nullable(),
  /** The server of the database has started since the last check. */
  is_restarted: z.boolean(),
  is_due: z.boolean(),
  /** The moment of this read, and the start of the server, as the database writes them. */
  read_at: z.string(),
  server_start: z.string(),
});
/** When the records were checked last, and whether they are due to be checked again. */
type Check = z.infer<typeof Check>;

/** The last check of the records. */
export const getCheck = (db: Db): Promise<Check> =>
  db.one(sql.type(Check)`
    select checked_at, checked_at - ${LATE_COMMIT} as events_since,
      coalesce(checked_start <> pg_postmaster_start_time(), false) as is_restarted,
      coalesce(checked_start <> pg_postmaster_start_time() or checked_at < app_now() - ${CHECKED_EVERY}, true) as is_due,
      app_now()::text as read_at, pg_postmaster_start_time()::text as server_start
    from (select) as always left join record_checks on true`);

/**
 * Records that everything was checked as of the read before. Nothing is recorded if the server of
 * the database has started again meanwhile.
 */
export const recordChecked = (pool: Pool, { read_at, server_start }: Check): Promise<unknown> =>
  pool.transaction(async (tx) => {
    await tx.query(sql.typeAlias('void')`
      insert into record_checks (checked_at, checked_start)
      select ${read_at}::timestamptz, pg_postmaster_start_time()
      where pg_postmaster_start_time()::text = ${server_start}
      on conflict (only_row) do update set checked_at = excluded.checked_at, checked_start = excluded.checked_start`);
    await tx.query(sql.typeAlias('void')`delete from restores where found_by = ${UNCHECKED}`);
  });

/** Records of a server that has started that it may be a restored copy. */
export const insertUnchecked = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into restores (taken_at, found_by)
    select least(checked_at, app_now()), ${UNCHECKED} from record_checks
    where not exists (select from restores where found_by = ${UNCHECKED})`);

/** Records a restore that was found. Its records are lost since then, or since the last check. */
export const insertFoundRestore = (db: Db, foundBy: string, since: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into restores (taken_at, found_by)
    select least(${since}::timestamptz, (select checked_at from record_checks), app_now()), ${foundBy}
    where not exists (select from restores where found_by = ${foundBy})`);

/** What the restores were found by that no operator has recorded. */
export const listFoundRestores = (db: Db): Promise<readonly string[]> =>
  db.anyFirst(sql.type(z.object({ found_by: z.string() }))`
    select found_by from restores where found_by is not null`);

/** Which of these settlements are not recorded. */
export const listMissing = (db: Db, settlementIds: readonly string[]): Promise<readonly string[]> =>
  db.anyFirst(sql.type(z.object({ id: z.string() }))`
    select id from unnest(${sql.array([...settlementIds], 'text')}) as id
    where not exists (select from settlements where settlement_id = id)`);
