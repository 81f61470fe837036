import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import type { ServiceName } from '../contract/service.ts';
import { type Databases, distinctDatabases, type SharedDatabase } from '../db/databases.ts';
import { MIGRATIONS_TABLE, roleName, schemaName } from '../db/names.ts';
import { appliedIn } from '../db/run-migrations.ts';

/** A table with its stored columns, in their order. */
type Table = { name: string; columns: string[] };
/** A counter; null: it was never used. */
type Sequence = { name: string; last: string | null };

/** The SHA-256 of each migration, by its schema and name. */
export type Migrations = Record<string, Record<string, string>>;

/** A connection to a database, with the schemas that belong to it. Other schemas are left alone. */
export type Connected = { client: pg.Client; services: readonly ServiceName[]; schemas: readonly string[] };

/**
 * Connects to each database of an environment, in this order of services, and ends all connections
 * after the work.
 */
export const withDatabases = async <T>(
  databases: Databases,
  order: readonly ServiceName[],
  work: (connected: Connected[]) => Promise<T>,
): Promise<T> => {
  const first = ({ services }: SharedDatabase) => Math.min(...services.map((name) => order.indexOf(name)));
  const connected = distinctDatabases(databases)
    .sort((one, other) => first(one) - first(other))
    .map(({ url, services }) => ({
      client: new pg.Client({ connectionString: url }),
      services,
      schemas: services.map(schemaName),
    }));
  try {
    for (const { client } of connected) await client.connect();
    return await work(connected);
  } finally {
    await Promise.all(connected.map(({ client }) => client.end()));
  }
};

/** The services' login roles. */
export const rolesOf = (database: string, services: readonly ServiceName[]): string[] =>
  services.map((service) => roleName(database, service));

export const databaseOf = async (client: pg.Client): Promise<string> =>
  (await client.query<{ name: string }>('select current_database() as name')).rows[0]!.name;

/** Each service's tables, with quoted names. Migrations are compared, not copied. */
export const tablesOf = async ({ client, schemas }: Connected): Promise<Table[]> =>
  (
    await client.query<Table>(
      `select format('%I.%I', table_schema, table_name) as name,
         array_agg(quote_ident(column_name) order by ordinal_position) filter (where is_generated = 'NEVER') as columns
       from information_schema.columns join information_schema.tables using (table_schema, table_name)
       where table_schema = any($1) and table_type = 'BASE TABLE' and table_name <> $2
       group by table_schema, table_name order by 1`,
      [schemas, MIGRATIONS_TABLE],
    )
  ).rows;

export const sequencesOf = async ({ client, schemas }: Connected): Promise<Sequence[]> =>
  (
    await client.query<Sequence>(
      `select format('%I.%I', schemaname, sequencename) as name, last_value::text as last
       from pg_sequences where schemaname = any($1) order by 1`,
      [schemas],
    )
  ).rows;

/**
 * The checksums of all applied migrations, by schema and name. They determine the tables. A schema
 * of an unknown origin has none.
 */
export const migrationsOf = async ({ client, schemas }: Connected): Promise<Migrations> => {
  const found: Migrations = {};
  for (const schema of schemas)
    found[schema] = Object.fromEntries(
      ((await appliedIn(client, schema)) ?? []).map(({ name, checksum }) => [name, checksum]),
    );
  return found;
};

/** Writes a table's rows to a file. @returns the number of rows */
export const copyOut = async (client: pg.Client, { name, columns }: Table, file: string): Promise<number> => {
  const rows = client.query(to(`copy ${name} (${columns.join()}) to stdout`));
  await pipeline(rows, createGzip(), createWriteStream(file, { mode: 0o600, flags: 'wx' }));
  return rows.rowCount;
};

/** Reads the rows back. @returns the number of rows */
export const copyIn = async (client: pg.Client, { name, columns }: Table, file: string): Promise<number> => {
  const rows = client.query(from(`copy ${name} (${columns.join()}) from stdin`));
  await pipeline(createReadStream(file), createGunzip(), rows);
  return rows.rowCount;
};
