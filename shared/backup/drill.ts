import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { SERVICE_NAMES, type ServiceName } from '../contract/service.ts';
import { type Databases, distinctDatabases, mapDatabases } from '../db/databases.ts';
import { migrateEnvironment } from '../db/migrate.ts';
import { roleName } from '../db/names.ts';
import { Refusal } from '../lib/refusal.ts';
import { findMissing } from './chain.ts';
import { folderOfCopy, newestCopy } from './copies.ts';
import { type Connected, withDatabases } from './database.ts';
import { type Manifest, manifestOf, SEEN_IN_ORDER } from './dump.ts';
import { fillFrom } from './restore.ts';

/** The scratch database is beside the environment's, under this name. */
const scratchOf = (database: string) => `${database}_drill`;

const withName = (url: string, name: string): string => {
  const named = new URL(url);
  named.pathname = `/${name}`;
  return named.href;
};

const onServer = async (url: string, work: (client: pg.Client) => Promise<void>): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
};

/** Removes the scratch database and its roles, also those of a drill that was interrupted. */
const removeScratch = async (databases: Databases, database: string): Promise<void> => {
  const scratch = scratchOf(database);
  for (const { url } of distinctDatabases(databases))
    await onServer(url, async (client) => {
      await client.query(`drop database if exists ${pg.escapeIdentifier(scratch)} with (force)`);
      for (const service of SERVICE_NAMES)
        await client.query(`drop role if exists ${pg.escapeIdentifier(roleName(scratch, service))}`);
    });
};

const createScratch = async (databases: Databases, database: string): Promise<Databases> => {
  const scratch = scratchOf(database);
  for (const { url } of distinctDatabases(databases))
    await onServer(url, async (client) => {
      await client.query(`create database ${pg.escapeIdentifier(scratch)}`);
    });
  return mapDatabases(databases, (url) => withName(url, scratch));
};

/** Counts what is in the tables, because a count of what was read says nothing about that. */
const countRows = async (all: readonly Connected[], { tables }: Manifest): Promise<number> => {
  let sum = 0;
  for (const { name, rows } of tables) {
    const { client } = all.find(({ schemas }) => schemas.includes(name.split('.')[0]!.replaceAll('"', '')))!;
    const found = await client.query<{ rows: string }>(`select count(*) as rows from ${name}`);
    const counted = Number(found.rows[0]!.rows);
    if (counted !== rows) throw new Refusal(`${name} has ${counted} rows, but the manifest lists ${rows}`);
    sum += counted;
  }
  return sum;
};

/** So many of the newest payments are compared with the chain. */
const COMPARED = 256;

const newestPayments = async (all: readonly Connected[]): Promise<string[]> => {
  const { client } = all.find(({ services }) => services.includes('settlement'))!;
  const { rows } = await client.query<{ tx_hash: string }>(
    `select tx_hash from settlement.settlements where chain_status = 'finalized' and tx_hash is not null
     order by created_at desc limit $1`,
    [COMPARED],
  );
  return rows.map(({ tx_hash }) => tx_hash);
};

type Drilled = {
  copy: string;
  taken_at: string;
  rows: number;
  /** Payments of the copy that the chain has, too; null: no provider was named. */
  payments: number | null;
};

/**
 * Restores the newest copy of a folder into a scratch database beside the environment's: migrated
 * by this release, every row counted against the manifest, and its newest payments compared with
 * the chain. The environment may be running. Nothing is left of the scratch database.
 * @param databases a superuser's
 * @param rpcUrls empty: the chain is not asked
 * @throws Refusal, or the error of a damaged copy
 */
export const drill = async (
  databases: Databases,
  folder: string,
  { rpcUrls }: { rpcUrls: readonly string[] },
): Promise<Drilled> => {
  const copy = newestCopy(folder);
  const place = folderOfCopy(folder, copy);
  const manifest = manifestOf(place);
  await removeScratch(databases, manifest.database);
  try {
    const scratch = await createScratch(databases, manifest.database);
    const passwords = Object.fromEntries(
      SERVICE_NAMES.map((service) => [service, randomBytes(24).toString('base64url')]),
    ) as Record<ServiceName, string>;
    await migrateEnvironment({ databases: scratch, passwords });
    return await withDatabases(scratch, SEEN_IN_ORDER, async (all) => {
      await fillFrom(all, place, manifest);
      const rows = await countRows(all, manifest);
      const payments = await newestPayments(all);
      const missing = rpcUrls.length === 0 ? [] : await findMissing(rpcUrls, payments);
      if (missing.length > 0)
        throw new Refusal(`the chain lacks ${missing.length} payments of the copy: ${missing[0]}`);
      const { taken_at } = manifest;
      return { copy, taken_at, rows, payments: rpcUrls.length === 0 ? null : payments.length };
    });
  } finally {
    await removeScratch(databases, manifest.database);
  }
};
