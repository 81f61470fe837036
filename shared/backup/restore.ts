import path from 'node:path';
import pg from 'pg';
import type { Databases } from '../db/databases.ts';
import { Refusal } from '../lib/refusal.ts';
import { startWaiting } from './chain.ts';
import {
  type Connected,
  copyIn,
  databaseOf,
  type Migrations,
  migrationsOf,
  rolesOf,
  tablesOf,
  withDatabases,
} from './database.ts';
import { type Manifest, manifestOf, SEEN_IN_ORDER } from './dump.ts';

/** Who restores, and why. Both are recorded with the change. */
type Signed = { actor: string; reason: string };

const quoted = (names: readonly string[]) => names.map((name) => pg.escapeIdentifier(name));

const refuseConnected = async (connected: readonly Connected[], database: string): Promise<void> => {
  const found = await Promise.all(
    connected.map(({ client, services }) =>
      client.query<{ name: string }>(
        'select distinct usename as name from pg_stat_activity where datname = current_database() and usename = any($1) order by 1',
        [rolesOf(database, services)],
      ),
    ),
  );
  const names = found.flatMap(({ rows }) => rows.map(({ name }) => name));
  if (names.length > 0)
    throw new Refusal(`stop all services first: ${names.sort().join(', ')} are still connected`);
};

const refuseOther = async (connected: readonly Connected[], manifest: Manifest): Promise<void> => {
  for (const { client } of connected) {
    const here = await databaseOf(client);
    if (here !== manifest.database)
      throw new Refusal(`this is a backup of ${manifest.database}, and the database is ${here}`);
  }
  await refuseOtherTables(connected, manifest);
};

const refuseOtherTables = async (
  connected: readonly Connected[],
  { migrations }: Manifest,
): Promise<void> => {
  const present: Migrations = Object.assign({}, ...(await Promise.all(connected.map(migrationsOf))));
  const checksums = (of: Migrations) =>
    new Map(
      Object.entries(of).flatMap(([schema, list]) =>
        Object.entries(list).map(([name, checksum]) => [`${schema}: ${name}`, checksum]),
      ),
    );
  const [wanted, found] = [checksums(migrations), checksums(present)];
  const differing = [...new Set([...wanted.keys(), ...found.keys()])].flatMap((name) => {
    if (wanted.get(name) === found.get(name)) return [];
    if (!found.has(name)) return `only in the backup: ${name}`;
    return wanted.has(name) ? `another file: ${name}` : `only here: ${name}`;
  });
  if (differing.length > 0)
    throw new Refusal(
      `the tables of this database differ from those of the backup. Migrate an empty database with the release that made the backup, restore there, then upgrade.\n${differing.join('\n')}`,
    );
};

/** Whether a table or a counter of the manifest is one of this database. */
const isOf =
  ({ schemas }: Connected) =>
  ({ name }: { name: string }): boolean =>
    schemas.includes(name.split('.')[0]!.replaceAll('"', ''));

/** Replaces all rows of one database by those of the backup, and commits nothing yet. */
const replaceRows = async (connected: Connected, folder: string, manifest: Manifest): Promise<void> => {
  const { client } = connected;
  await client.query('begin');
  const here = await tablesOf(connected);
  await client.query(`truncate ${here.map(({ name }) => name).join()}`);
  // The tables are copied one after the other. Without triggers the order of the foreign keys does
  // not matter, and they were valid when the rows were read.
  await client.query('set local session_replication_role = replica');
  for (const { file, rows, ...table } of manifest.tables.filter(isOf(connected))) {
    const read = await copyIn(client, table, path.join(folder, file));
    if (read !== rows) throw new Refusal(`${file} has ${read} rows, but the manifest lists ${rows}`);
  }
  for (const { name, last } of manifest.sequences.filter(isOf(connected)))
    if (last !== null) await client.query('select setval($1::regclass, $2)', [name, last]);
};

/**
 * Fills migrated databases of any name with the rows of a backup, in one commit of each.
 * @throws Refusal if the tables are those of another release
 */
export const fillFrom = async (
  all: readonly Connected[],
  folder: string,
  manifest: Manifest,
): Promise<void> => {
  await refuseOtherTables(all, manifest);
  await Promise.all(all.map((each) => replaceRows(each, folder, manifest)));
  for (const { client } of all) await client.query('commit');
};

/** Pauses signing, and records that and the restore. */
const recordRestore = async (
  { client, services }: Connected,
  { database, taken_at }: Pick<Manifest, 'database' | 'taken_at'>,
  { actor, reason }: Signed,
): Promise<void> => {
  // After the backup attempts were accepted that this database lacks. Settlement therefore checks
  // the chain before it reports such an attempt as not paid.
  if (services.includes('settlement'))
    await client.query('insert into settlement.restores (taken_at) values ($1)', [taken_at]);
  if (!services.includes('chain-submitter')) return;
  await client.query('update chain_submitter.settings set paused = true');
  // The trigger that adds the hashes of the new action. The copied ones keep theirs.
  await client.query('set local session_replication_role = origin');
  await client.query(
    `insert into chain_submitter.operator_actions (actor, action, target, reason, before, after)
     values ($1, 'backup.restore', $2, $3, '{}', $4)`,
    [actor, database, reason, { taken_at, paused: true }],
  );
};

/**
 * What the chain has and the record has not is known to be lost, up to this slot: chain-submitter
 * would find it otherwise, and record the same restore once more.
 */
const recordLostSlot = async (all: readonly Connected[], slot: number): Promise<void> => {
  for (const { client, services } of all)
    if (services.includes('chain-submitter'))
      await client.query(
        'update chain_submitter.settings set lost_slot = greatest(lost_slot, $1), lost_until_height = null',
        [slot],
      );
};

/**
 * Deletes all present rows, copies the rows of the backup and pauses signing: in one commit for
 * each database, once all of them have all rows. If only some commit, nobody can log in until it is
 * run again.
 */
const replace = async (
  all: readonly Connected[],
  folder: string,
  manifest: Manifest,
  signed: Signed,
): Promise<void> => {
  await Promise.all(all.map((each) => replaceRows(each, folder, manifest)));
  for (const each of all) await recordRestore(each, manifest, signed);
  for (const { client } of all) await client.query('commit');
};

const setLogin = async (
  all: readonly Connected[],
  database: string,
  login: 'login' | 'nologin',
): Promise<void> => {
  for (const { client, services } of all)
    for (const role of quoted(rolesOf(database, services))) await client.query(`alter role ${role} ${login}`);
};

type Restored = {
  taken_at: string;
  rows: number;
  /**
   * No transaction signed before can be included after this block, and this one is final on every
   * provider.
   */
  dead_after: number;
  finalized: number;
};

/** Work while no service can log in. If it is interrupted, no service can until it is run again. */
const whileLocked = async <T>(
  all: readonly Connected[],
  database: string,
  print: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> => {
  await refuseConnected(all, database);
  await setLogin(all, database, 'nologin');
  // Finds services that logged in meanwhile. New logins are refused already.
  await refuseConnected(all, database);
  print('No service can log in until the restore has ended.');
  const done = await work();
  await setLogin(all, database, 'login');
  return done;
};

type Run = { rpcUrls: readonly string[]; signed: Signed; print: (line: string) => void };

/**
 * Replaces the data of the migrated databases of an environment by a backup, whichever databases
 * its services had then. No service can log in until no unknown transaction can be included any
 * more, even if this process dies. In that case it is run again.
 * @param databases a superuser's
 * @param rpcUrls of every provider that chain-submitter uses
 * @throws Refusal if a service is connected, if the backup is of another environment, or if the
 *   tables are those of another release
 */
export const restore = (
  databases: Databases,
  folder: string,
  { rpcUrls, signed, print }: Run,
): Promise<Restored> => {
  const manifest = manifestOf(folder);
  return withDatabases(databases, SEEN_IN_ORDER, async (all) => {
    await refuseOther(all, manifest);
    return whileLocked(all, manifest.database, print, async () => {
      const waiting = await startWaiting(rpcUrls);
      await replace(all, folder, manifest, signed);
      print(
        `Restored to ${manifest.taken_at}; signing is paused. Waiting until no unknown transaction can be included:`,
      );
      const finalized = await waiting.isOver((text) => print(`  ${text}`));
      await recordLostSlot(all, await waiting.newestSlot());
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
      return { taken_at: manifest.taken_at, rows, dead_after: waiting.after, finalized };
    });
  });
};

const LAST_CHECK = 'select checked_at as at from settlement.record_checks';

/**
 * The time of the restored state. Records are lost since the last check at the latest, so a later
 * time, by a mistake or by another clock, denies no attempt.
 * @param takenAt null: it is not known
 */
const takenAtOf = async (all: readonly Connected[], takenAt: Date | null): Promise<Date> => {
  const { client } = all.find(({ services }) => services.includes('settlement'))!;
  const [checked] = (await client.query<{ at: Date }>(LAST_CHECK)).rows;
  const times = [takenAt, checked?.at ?? null].filter((at) => at !== null);
  if (times.length === 0)
    throw new Refusal('the database does not say when its records were checked: name --taken-at');
  return new Date(Math.min(...times.map(Number)));
};

/** What `finishRestore` will do. */
type FinishPlan = { database: string; takenAt: string };

/**
 * What another tool has restored, and since when its records are lost.
 * @param takenAt the time of the restored state; null: that of the last check that it has
 * @throws Refusal for a time in the future, or while a service is connected
 */
export const planFinish = (databases: Databases, takenAt: Date | null): Promise<FinishPlan> =>
  withDatabases(databases, SEEN_IN_ORDER, async (all) => {
    if (takenAt !== null && takenAt.getTime() > Date.now())
      throw new Refusal(`--taken-at ${takenAt.toISOString()} is in the future`);
    const database = await databaseOf(all[0]!.client);
    await refuseConnected(all, database);
    return { database, takenAt: (await takenAtOf(all, takenAt)).toISOString() };
  });

/**
 * Does for databases that another tool has restored (a snapshot, a base backup with its log) what
 * `restore` does after the copy: records the restore, pauses signing, and waits until no unknown
 * transaction can be included any more. It may be run again.
 * @param databases a superuser's
 * @throws Refusal if a service is connected
 */
export const finishRestore = (
  databases: Databases,
  { database, takenAt }: FinishPlan,
  { rpcUrls, signed, print }: Run,
): Promise<Omit<Restored, 'rows'>> =>
  withDatabases(databases, SEEN_IN_ORDER, (all) =>
    whileLocked(all, database, print, async () => {
      const waiting = await startWaiting(rpcUrls);
      for (const each of all) {
        await each.client.query('begin');
        await recordRestore(each, { database, taken_at: takenAt }, signed);
        await each.client.query('commit');
      }
      print(
        `Recorded: restored to ${takenAt}; signing is paused. Waiting until no unknown transaction can be included:`,
      );
      const finalized = await waiting.isOver((text) => print(`  ${text}`));
      await recordLostSlot(all, await waiting.newestSlot());
      return { taken_at: takenAt, dead_after: waiting.after, finalized };
    }),
  );
