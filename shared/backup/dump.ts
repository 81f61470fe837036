import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { z } from 'zod';
import { Refusal } from '../lib/refusal.ts';
import { copyOut, databaseOf, migrationsOf, sequencesOf, tablesOf } from './database.ts';

const Manifest = z.strictObject({
  format: z.literal(1),
  database: z.string(),
  taken_at: z.iso.datetime(),
  /**
   * The names of the migrations by their table. The target of a restore must have the same ones.
   */
  migrations: z.record(z.string(), z.array(z.string())),
  tables: z.array(
    z.strictObject({ name: z.string(), columns: z.array(z.string()), rows: z.int(), file: z.string() }),
  ),
  sequences: z.array(z.strictObject({ name: z.string(), last: z.string().nullable() })),
});
export type Manifest = z.infer<typeof Manifest>;

/** The last file that is written, so a folder without it is incomplete. */
export const MANIFEST = 'manifest.json';

/**
 * Writes all schemas of one environment as they were at one moment, while the services run.
 * @param folder must not exist. It holds secrets and e-mail addresses, so only its owner may read
 *   it.
 * @returns its content
 */
export const dump = async (databaseUrl: string, folder: string): Promise<Manifest> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      throw new Refusal(`${folder}: ${(error as Error).message}`);
    }
    // One snapshot, so that a payment has the same progress in the tables of all services.
    await client.query('begin isolation level repeatable read, read only');
    const at = await client.query<{ at: Date }>('select now() as at');
    const tables: Manifest['tables'] = [];
    for (const table of await tablesOf(client)) {
      const file = `${table.name.replaceAll('"', '')}.copy.gz`;
      tables.push({ ...table, file, rows: await copyOut(client, table, path.join(folder, file)) });
    }
    const manifest: Manifest = {
      format: 1,
      database: await databaseOf(client),
      taken_at: at.rows[0]!.at.toISOString(),
      migrations: await migrationsOf(client),
      tables,
      // Counters are outside of snapshots. They are read last, so that no row is ahead of them.
      sequences: await sequencesOf(client),
    };
    await client.query('commit');
    writeFileSync(path.join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    return manifest;
  } finally {
    await client.end();
  }
};

/** @throws Refusal if the folder holds no complete backup */
export const manifestOf = (folder: string): Manifest => {
  try {
    return Manifest.parse(JSON.parse(readFileSync(path.join(folder, MANIFEST), 'utf8')));
  } catch {
    throw new Refusal(`${folder} holds no complete backup`);
  }
};
