import path from 'node:path';
import pg from 'pg';
import { Refusal } from '../lib/refusal.ts';
import { startWaiting } from './chain.ts';
import { copyIn, databaseOf, migrationsOf, rolesOf, tablesOf } from './database.ts';
import { type Manifest, manifestOf } from './dump.ts';

/** Who restores, and why. Both are recorded with the change. */
type Signed = { actor: string; reason: string };

const quoted = (names: readonly string[]) => names.map((name) => pg.escapeIdentifier(name));

const refuseConnected = async (client: pg.Client, roles: readonly string[]): Promise<void> => {
  const { rows } = await client.query<{ name: string }>(
    'select distinct usename as name from pg_stat_activity where datname = current_database() and usename = any($1) order by 1',
    [roles],
  );
  if (rows.length > 0)
    throw new Refusal(
      `stop all services first: ${rows.map(({ name }) => name).join(', ')} are still connected`,
    );
};

const refuseOther = async (client: pg.Client, { database, migrations }: Manifest): Promise<void> => {
  const here = await databaseOf(client);
  if (here !== database) throw new Refusal(`this is a backup of ${database}, and the database is ${here}`);
  const present = await migrationsOf(client);
  const names = (of: Record<string, string[]>) =>
    Object.entries(of).flatMap(([table, list]) => list.map((name) => `${table}: ${name}`));
  const [wanted, found] = [names(migrations), names(present)];
  const differing = [
    ...wanted.filter((name) => !found.includes(name)).map((name) => `only in the backup: ${name}`),
    ...found.filter((name) => !wanted.includes(name)).map((name) => `only here: ${name}`),
  ];
  if (differing.length > 0)
    throw new Refusal(
      `the tables of this database differ from those of the backup. Migrate an empty database with the release that made the backup, restore there, then upgrade.\n${differing.join('\n')}`,
    );
};

/** Deletes all present rows, copies the rows of the backup and pauses signing, in one commit. */
const replace = async (client: pg.Client, folder: string, manifest: Manifest, { actor, reason }: Signed) => {
  await client.query('begin');
  const here = await tablesOf(client);
  await client.query(`truncate ${here.map(({ name }) => name).join()}`);
  // The tables are copied one after the other. Without triggers the order of the foreign keys does
  // not matter, and they were valid when the rows were read.
  await client.query('set local session_replication_role = replica');
  for (const { file, rows, ...table } of manifest.tables) {
    const read = await copyIn(client, table, path.join(folder, file));
    if (read !== rows) throw new Refusal(`${file} has ${read} rows, but the manifest lists ${rows}`);
  }
  for (const { name, last } of manifest.sequences)
    if (last !== null) await client.query('select setval($1::regclass, $2)', [name, last]);
  await client.query('update chain_submitter.settings set paused = true');
  // After the backup attempts were accepted that this database lacks. Settlement therefore checks
  // the chain before it reports such an attempt as not paid.
  await client.query('insert into settlement.restores (taken_at) values ($1)', [manifest.taken_at]);
  // The trigger that adds the hashes of the new action. The copied ones keep theirs.
  await client.query('set local session_replication_role = origin');
  await client.query(
    `insert into chain_submitter.operator_actions (actor, action, target, reason, before, after)
     values ($1, 'backup.restore', $2, $3, '{}', $4)`,
    [actor, manifest.database, reason, { taken_at: manifest.taken_at, paused: true }],
  );
  await client.query('commit');
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
 * Replaces the data of a migrated database by a backup. No service can log in until no unknown
 * transaction can be included any more, even if this process dies. In that case it is run again.
 * @param databaseUrl a superuser's
 * @param rpcUrls of every provider that chain-submitter uses
 * @throws Refusal if a service is connected, if the backup is of another environment, or if the
 *   tables are those of another release
 */
export const restore = async (
  databaseUrl: string,
  folder: string,
  { rpcUrls, signed, print }: { rpcUrls: readonly string[]; signed: Signed; print: (line: string) => void },
): Promise<Restored> => {
  const manifest = manifestOf(folder);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await refuseOther(client, manifest);
    const roles = rolesOf(manifest.database);
    await refuseConnected(client, roles);
    for (const role of quoted(roles)) await client.query(`alter role ${role} nologin`);
    // Finds services that logged in meanwhile. New logins are refused already.
    await refuseConnected(client, roles);
    print('No service can log in until the restore has ended.');

    const waiting = await startWaiting(rpcUrls);
    await replace(client, folder, manifest, signed);
    print(
      `Restored to ${manifest.taken_at}; signing is paused. Waiting until no unknown transaction can be included:`,
    );
    const finalized = await waiting.isOver((text) => print(`  ${text}`));
    for (const role of quoted(roles)) await client.query(`alter role ${role} login`);
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    return { taken_at: manifest.taken_at, rows, dead_after: waiting.after, finalized };
  } finally {
    await client.end();
  }
};
