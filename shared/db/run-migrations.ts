import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { hasErrorCode } from '../lib/error-causes.ts';
import { Refusal } from '../lib/refusal.ts';
import { build } from '../lib/telemetry/version.ts';
import { type Applied, compareMigrations, type Migration } from './migrations.ts';
import { MIGRATIONS_TABLE } from './names.ts';

/**
 * The longest time for which a migration stops the calls of the services: while it waits for a lock
 * on a table, all later statements on the table wait behind it.
 */
const LOCK_TIMEOUT_MS = 500;
/** In the pause the statements that waited behind the migration are done. */
const PAUSE_MS = 1000;
/** Four to six minutes, within which a service ends every transaction of its own. */
const MOST_ATTEMPTS = 240;
const REPORT_EVERY = 10;
const BATCHES_PER_LINE = 100;
const TURN_AGAIN_MS = 200;
/** `lock_not_available` and `deadlock_detected`. */
const LOCKED = /^(55P03|40P01)$/;

/** Takes a line for the operator. */
export type Report = (line: string) => void;

/**
 * Waits until no other migration runs in the database. It asks again and again, because a statement
 * that waits would hold up `create index concurrently` of the other one for ever.
 */
export const takeTurn = async (admin: pg.Client, report: Report): Promise<void> => {
  for (let asked = 1; ; asked += 1) {
    const { rows } = await admin.query<{ mine: boolean }>(
      "select pg_try_advisory_lock(hashtext('quittance.migrate')) as mine",
    );
    if (rows[0]!.mine) return;
    if (asked % 50 === 1) report('waits for another migration');
    await sleep(TURN_AGAIN_MS);
  }
};

/**
 * How a file runs, by its first line: as one transaction, `-- no transaction` as one statement that
 * refuses one (`create index concurrently`), or `-- in batches` as one statement that is repeated,
 * each time in a transaction of its own. Its `$1` is the last key of the batch before, at first an
 * empty text, and its only row has the last key of its own batch, null after the last one.
 */
const modeOf = (text: string): string => /^-- (no transaction|in batches)\b/.exec(text)?.[1] ?? 'transaction';

/** Runs the work in a transaction, and again while somebody else has a lock that it needs. */
const whenUnlocked = async <T>(
  client: pg.Client,
  what: string,
  report: Report,
  work: () => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    await client.query(`begin; set local lock_timeout = '${LOCK_TIMEOUT_MS}ms'`);
    try {
      const result = await work();
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(() => {});
      if (!hasErrorCode(error, LOCKED)) throw error;
      if (attempt === MOST_ATTEMPTS)
        throw new Refusal(
          `${what}: others have held a lock that it needs in each of ${attempt} attempts: end the backup or transaction that runs (pg_stat_activity), and run migrate again`,
        );
      if (attempt % REPORT_EVERY === 1)
        report(`${what}: waits for a lock, attempt ${attempt} of ${MOST_ATTEMPTS}`);
      await sleep(PAUSE_MS);
    }
  }
};

/** What an interrupted `create index concurrently` has left is written, but never read. */
const dropInvalidIndexes = async (client: pg.Client, schema: string): Promise<void> => {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', $1::text, relname) as name from pg_index join pg_class on oid = indexrelid
     where not indisvalid and relnamespace = to_regnamespace($1)`,
    [schema],
  );
  for (const { name } of rows) await client.query(`drop index concurrently if exists ${name}`);
};

/** A migration with its SQL. */
export type Runnable = Migration & { text: string };

const apply = async (
  client: pg.Client,
  schema: string,
  migration: Runnable,
  report: Report,
): Promise<void> => {
  const { name, checksum, text } = migration;
  const what = `${schema}: ${name}`;
  const record = () =>
    client.query(
      `insert into "${schema}".${MIGRATIONS_TABLE} (name, checksum, release) values ($1, $2, $3)`,
      [name, checksum, build.version],
    );
  const mode = modeOf(text);
  if (mode === 'transaction') {
    await whenUnlocked(client, what, report, async () => {
      await client.query(text);
      await record();
    });
    return;
  }
  report(`${what}: runs beside the services and may take long`);
  if (mode === 'no transaction') {
    await dropInvalidIndexes(client, schema);
    await client.query(text);
  } else {
    let last: unknown = '';
    for (let batch = 1; last !== null; batch += 1) {
      const [startedAt, key] = [performance.now(), String(last)];
      const { rows } = await whenUnlocked(client, what, report, () =>
        client.query<Record<string, unknown>>(text, [key]),
      );
      last = Object.values(rows[0] ?? { last: null })[0];
      if (last !== null && String(last) === key) throw new Error(`two batches end with ${key}`);
      if (batch % BATCHES_PER_LINE === 0) report(`${what}: ${batch} batches, up to ${String(last)}`);
      // Half of the time is left to the services.
      await sleep(performance.now() - startedAt);
    }
  }
  // A crash before it runs the statement again, which changes nothing then.
  await record();
};

/**
 * The migrations that made a schema.
 * @returns an empty list for a schema without tables, null for tables of an unknown origin
 */
export const appliedIn = async (client: pg.Client, schema: string): Promise<Applied[] | null> => {
  const { rows } = await client.query<{ tables: number; recorded: boolean | null }>(
    `select count(*)::int as tables, bool_or(relname = $2 and exists (
       select from pg_attribute where attrelid = c.oid and attname = 'checksum')) as recorded
     from pg_class c where relnamespace = to_regnamespace($1) and relkind in ('r', 'p')`,
    [schema, MIGRATIONS_TABLE],
  );
  const { tables, recorded } = rows[0]!;
  if (tables === 0) return [];
  if (recorded !== true) return null;
  return (
    await client.query<Applied>(
      `select name, checksum, release from "${schema}".${MIGRATIONS_TABLE} order by name`,
    )
  ).rows;
};

/**
 * Compares a schema with the migrations of this build, and changes nothing.
 * @returns those that have to run, and those of a later release
 * @throws Refusal in one line if this build must not migrate the schema
 */
export const examine = async <M extends Migration>(
  client: pg.Client,
  schema: string,
  own: readonly M[],
): Promise<{ pending: M[]; newer: Applied[] }> => {
  const applied = await appliedIn(client, schema);
  if (applied === null)
    throw new Refusal(
      `${schema}: the schema has tables, and no record of the migrations that made them: use an empty database, or the build that made these tables`,
    );
  const { refusal, pending, newer } = compareMigrations(schema, own, applied);
  if (refusal !== undefined) throw new Refusal(refusal);
  return { pending: own.filter((each) => pending.some(({ name }) => name === each.name)), newer };
};

/**
 * Runs migrations in a schema that exists, each once, and records them in its table `migrations`.
 * @throws an error that begins with schema and name of the migration that failed
 */
export const runMigrations = async (
  client: pg.Client,
  schema: string,
  pending: readonly Runnable[],
  report: Report,
): Promise<void> => {
  // Names without a schema are of this one, and no temporary table comes before its tables.
  await client.query(`set search_path = "${schema}", public, pg_temp`);
  await client.query(
    `create table if not exists "${schema}".${MIGRATIONS_TABLE} (
       name text collate "C" primary key,
       checksum text not null,
       release text not null,
       applied_at timestamptz not null default now()
     )`,
  );
  for (const migration of pending)
    try {
      await apply(client, schema, migration, report);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw new Error(`${schema}: ${migration.name}: ${(error as Error).message}`, { cause: error });
    }
  await client.query('reset search_path');
};
