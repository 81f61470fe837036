import path from 'node:path';
import pg from 'pg';
import type { Attribution } from '../ops/command.ts';
import { Refusal } from '../ops/refusal.ts';
import { startWaiting } from './chain.ts';
import { copyIn, databaseOf, migrationsOf, rolesOf, tablesOf } from './database.ts';
import { type Manifest, manifestOf } from './dump.ts';

const quoted = (names: readonly string[]) => names.map((name) => pg.escapeIdentifier(name));

const refuseConnected = async (client: pg.Client, roles: readonly string[]): Promise<void> => {
  const { rows } = await client.query<{ name: string }>(
    'select distinct usename as name from pg_stat_activity where datname = current_database() and usename = any($1) order by 1',
    [roles],
  );
  if (rows.length > 0)
    throw new Refusal(`stop all services first: ${rows.map(({ name }) => name).join(', ')} still connected`);
};

const refuseOther = async (client: pg.Client, { database, migrations }: Manifest): Promise<void> => {
  const here = await databaseOf(client);
  if (here !== database) throw new Refusal(`it is a backup of ${database}, this is ${here}`);
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
      `the tables here are not those of the backup. Migrate an empty database with the release that made it, restore there, then upgrade.\n${differing.join('\n')}`,
    );
};

/** In one commit: everything that is here goes, everything of the backup comes, and nothing may be signed. */
const replace = async (
  client: pg.Client,
  folder: string,
  manifest: Manifest,
  { actor, reason }: Attribution,
) => {
  await client.query('begin');
  const here = await tablesOf(client);
  await client.query(`truncate ${here.map(({ name }) => name).join()}`);
  // Rows come table by table; what refers to what was in order when they were read.
  await client.query('set local session_replication_role = replica');
  for (const { file, rows, ...table } of manifest.tables) {
    const read = await copyIn(client, table, path.join(folder, file));
    if (read !== rows) throw new Refusal(`${file} has ${read} rows, its manifest says ${rows}`);
  }
  for (const { name, last } of manifest.sequences)
    if (last !== null) await client.query('select setval($1::regclass, $2)', [name, last]);
  await client.query('update chain_submitter.settings set paused = true');
  // Since then attempts were accepted that nothing here knows: settlement asks the chain before it says "not paid" of one.
  await client.query('insert into settlement.restores (taken_at) values ($1)', [manifest.taken_at]);
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
  /** Nothing signed before could land after this block, and this one is final on every provider. */
  dead_after: number;
  finalized: number;
};

/**
 * Puts a backup in the place of what a migrated database holds. From before the first row until nothing unseen can land
 * any more no service can log in, also when this process dies in between: it is then run again.
 * @param databaseUrl a superuser's
 * @param rpcUrls of every provider that chain-submitter asks
 * @throws Refusal while a service is connected, for another environment's backup, for tables of another release
 */
export const restore = async (
  databaseUrl: string,
  folder: string,
  {
    rpcUrls,
    signed,
    print,
  }: { rpcUrls: readonly string[]; signed: Attribution; print: (line: string) => void },
): Promise<Restored> => {
  const manifest = manifestOf(folder);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await refuseOther(client, manifest);
    const roles = rolesOf(manifest.database);
    await refuseConnected(client, roles);
    for (const role of quoted(roles)) await client.query(`alter role ${role} nologin`);
    // Who logged in meanwhile is found, and who comes now is refused.
    await refuseConnected(client, roles);
    print('No service can log in until this is over.');

    const waiting = await startWaiting(rpcUrls);
    await replace(client, folder, manifest, signed);
    print(`Restored to ${manifest.taken_at}; signing is paused. Now nothing unseen may land any more:`);
    const finalized = await waiting.isOver((text) => print(`  ${text}`));
    for (const role of quoted(roles)) await client.query(`alter role ${role} login`);
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    return { taken_at: manifest.taken_at, rows, dead_after: waiting.after, finalized };
  } finally {
    await client.end();
  }
};
