import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { ServiceName } from '../contract/service.ts';
import type { Databases } from '../db/databases.ts';
import { Refusal } from '../lib/refusal.ts';
import {
  type Connected,
  copyOut,
  databaseOf,
  migrationsOf,
  sequencesOf,
  tablesOf,
  withDatabases,
} from './database.ts';

const Manifest = z.strictObject({
  format: z.literal(1),
  database: z.string(),
  taken_at: z.iso.datetime(),
  /**
   * The SHA-256 of each migration, by its schema and name. The target of a restore must have the
   * same ones.
   */
  migrations: z.record(z.string(), z.record(z.string(), z.string())),
  tables: z.array(
    z.strictObject({ name: z.string(), columns: z.array(z.string()), rows: z.int(), file: z.string() }),
  ),
  sequences: z.array(z.strictObject({ name: z.string(), last: z.string().nullable() })),
});
export type Manifest = z.infer<typeof Manifest>;

/** The last file that is written, so a folder without it is incomplete. */
export const MANIFEST = 'manifest.json';

/**
 * The order in which several databases are seen. What refers to a record is seen before that
 * record, so that a copy has no record whose origin it lacks: an intent has its payment or refund,
 * an event and a refund their payment, a payment its payer and its quote. A record that is a moment
 * ahead of what it causes is what an interrupted service leaves as well: sweeps and the way back to
 * events go on from there.
 */
export const SEEN_IN_ORDER: readonly ServiceName[] = [
  'chain-submitter',
  'webhook',
  'funding',
  'settlement',
  'wallet',
  'quote',
  'identity',
];

/** Fixes what a database contains for the connection. @returns the time */
const see = async ({ client }: Connected): Promise<Date> => {
  await client.query('begin isolation level repeatable read, read only');
  // The first statement that reads takes the snapshot.
  return (await client.query<{ at: Date }>('select now() as at')).rows[0]!.at;
};

const writeTables = async (connected: Connected, folder: string): Promise<Manifest['tables']> => {
  const tables: Manifest['tables'] = [];
  for (const table of await tablesOf(connected)) {
    const file = `${table.name.replaceAll('"', '')}.copy.gz`;
    tables.push({ ...table, file, rows: await copyOut(connected.client, table, path.join(folder, file)) });
  }
  return tables;
};

/**
 * Writes all schemas of one environment while the services run: of each database as it was at one
 * moment, so that a payment has the same progress in all of its tables. The moments of several
 * databases are milliseconds apart, and in the order above.
 * @param folder must not exist. It holds secrets and e-mail addresses, so only its owner may read
 *   it.
 * @returns its content
 */
export const dump = (databases: Databases, folder: string): Promise<Manifest> =>
  withDatabases(databases, SEEN_IN_ORDER, async (connected) => {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      throw new Refusal(`${folder}: ${(error as Error).message}`);
    }
    const times: Date[] = [];
    for (const each of connected) times.push(await see(each));
    const tables = (await Promise.all(connected.map((each) => writeTables(each, folder)))).flat();
    const migrations = await Promise.all(connected.map(migrationsOf));
    const manifest: Manifest = {
      format: 1,
      database: await databaseOf(connected[0]!.client),
      taken_at: new Date(Math.min(...times.map(Number))).toISOString(),
      migrations: Object.assign({}, ...migrations),
      tables: tables.sort((one, other) => (one.name < other.name ? -1 : 1)),
      // Counters are outside of snapshots. They are read last, so that no row is ahead of them.
      sequences: (await Promise.all(connected.map(sequencesOf))).flat(),
    };
    for (const { client } of connected) await client.query('commit');
    writeFileSync(path.join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    return manifest;
  });

/** @throws Refusal if the folder holds no complete backup */
export const manifestOf = (folder: string): Manifest => {
  try {
    return Manifest.parse(JSON.parse(readFileSync(path.join(folder, MANIFEST), 'utf8')));
  } catch {
    throw new Refusal(`${folder} holds no complete backup`);
  }
};
