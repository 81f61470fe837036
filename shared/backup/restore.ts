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

const refuseOther = async (
  connected: readonly Connected[],
  { database, migrations }: Manifest,
): Promise<void> => {
  for (const { client } of connected) {
    const here = await databaseOf(client);
    if (here !== database) throw new Refusal(`this is a backup of ${database}, and the database is ${here}`);
  }
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

/** Pauses signing, and records that and the restore. */
const recordRestore = async (
  { client, services }: Connected,
  manifest: Manifest,
  { actor, reason }: Signed,
): Promise<void> => {
  // After the backup attempts were accepted that this database lacks. Settlement therefore checks
  // the chain before it reports such an attempt as not paid.
  if (services.includes('settlement'))
    await client.query('insert into settlement.restores (taken_at) values ($1)', [manifest.taken_at]);
  if (!services.includes('chain-submitter')) return;
  await client.query('update chain_submitter.settings set paused = true');
  // The trigger that adds the hashes of the new action. The copied ones keep theirs.
  await client.query('set local session_replication_role = origin');
  await client.query(
    `insert into chain_submitter.operator_actions (actor, action, target, reason, before, after)
     values ($1, 'backup.restore', $2, $3, '{}', $4)`,
    [actor, manifest.database, reason, { taken_at: manifest.taken_at, paused: true }],
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
  { rpcUrls, signed, print }: { rpcUrls: readonly string[]; signed: Signed; print: (line: string) => void },
): Promise<Restored> => {
  const manifest = manifestOf(folder);
  return withDatabases(databases, SEEN_IN_ORDER, async (all) => {
    await refuseOther(all, manifest);
    await refuseConnected(all, manifest.database);
    await setLogin(all, manifest.database, 'nologin');
    // Finds services that logged in meanwhile. New logins are refused already.
    await refuseConnected(all, manifest.database);
    print('No service can log in until the restore has ended.');
    const waiting = await startWaiting(rpcUrls);
    await replace(all, folder, manifest, signed);
    print(
      `Restored to ${manifest.taken_at}; signing is paused. Waiting until no unknown transaction can be included:`,
    );
    const finalized = await waiting.isOver((text) => print(`  ${text}`));
    await setLogin(all, manifest.database, 'login');
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    return { taken_at: manifest.taken_at, rows, dead_after: waiting.after, finalized };
  });
};
