import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { ServiceName } from '../../../shared/contract/service.ts';
import { roleName, schemaName } from '../../../shared/db/names.ts';

/** A migrated database for one test file. */
export type TestDatabase = {
  /** Connects as a service does: with its role, on its schema. */
  url: (service: ServiceName) => string;
  /** The same database as superuser, to read a service's tables and to set the clock. */
  adminUrl: string;
  /**
   * Shifts app_now() in this database from the clock of the suite, for instance by `'15 minutes'`.
   * It replaces the previous shift.
   */
  shiftClock: (interval: string) => Promise<void>;
  /** The same for the duration of the work. */
  withClock: <T>(interval: string, work: () => Promise<T>) => Promise<T>;
  drop: () => Promise<void>;
};

/** Runs statements one after the other on a connection of their own. */
const onServer = async (url: string, statements: readonly string[]): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
};

/** The same on each of several servers, one after the other. */
export const onServers = async (urls: readonly string[], statements: readonly string[]): Promise<void> => {
  for (const url of urls) await onServer(url, statements);
};

/**
 * A pool that was ended closes its connections a moment later. A forced drop in between would cause
 * an error that no code catches. Connections that stay longer are terminated.
 */
export const othersGone = async (serverUrl: string, database: string): Promise<void> => {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    for (let attempts = 0; attempts < 100; attempts += 1) {
      const { rowCount } = await client.query(
        "select from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
        [database],
      );
      if (rowCount === 0) return;
      await sleep(20);
    }
  } finally {
    await client.end();
  }
};

export const databaseOf = (serverUrl: string, database: string): URL => {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url;
};

/** The name of a new database. */
export const newName = (): string => `quittance_${randomBytes(6).toString('hex')}`;

/**
 * @param nodeUrls the database on each server that evaluates app_now(), if there are several
 * @param clockOffsetMs what a shift of the clock is added to
 */
export const handle = ({
  adminUrl,
  nodeUrls = [adminUrl],
  rolesOf,
  password,
  clockOffsetMs = 0,
}: {
  adminUrl: string;
  nodeUrls?: readonly string[];
  rolesOf: string;
  password: string;
  clockOffsetMs?: number;
}): Omit<TestDatabase, 'drop'> => {
  const shiftClock = (interval: string) =>
    onServers(nodeUrls, [
      'create table if not exists public.clock_offset (shift interval)',
      'grant select on public.clock_offset to public',
      'delete from public.clock_offset',
      `insert into public.clock_offset
         values (${pg.escapeLiteral(interval)}::interval + interval '${clockOffsetMs} milliseconds')`,
    ]);
  return {
    url: (service) => {
      const url = new URL(adminUrl);
      url.username = roleName(rolesOf, service);
      url.password = password;
      return url.href;
    },
    adminUrl,
    shiftClock,
    withClock: async (interval, work) => {
      await shiftClock(interval);
      try {
        return await work();
      } finally {
        await shiftClock('0');
      }
    },
  };
};

/**
 * A cluster of Citus instead of one server (docs/adr/0090): POSTGRES_URL is then its coordinator,
 * and TEST_CITUS_WORKERS has its workers, all as superuser, with commas between them.
 */
const workers = (): string[] => process.env.TEST_CITUS_WORKERS?.split(',') ?? [];

/** Whether the servers of the tests are a cluster of Citus. */
export const isCitus = (): boolean => workers().length > 0;

/** The servers that have a database: the given one, and the workers of a cluster. */
export const nodesOf = (serverUrl: string): string[] => [serverUrl, ...workers()];

/** What Citus is told about the tables: their distribution. */
const DISTRIBUTION = path.join(import.meta.dirname, '../../../deploy/citus/settlement.sql');

/** Joins the databases of this name to a cluster, in which each table is on the coordinator. */
export const joinNodes = async (serverUrl: string, name: string): Promise<void> => {
  if (!isCitus()) return;
  const databases = nodesOf(serverUrl).map((node) => databaseOf(node, name).href);
  await onServers(databases, ['create extension citus']);
  const at = (url: string) => `'${new URL(url).hostname}', ${new URL(url).port}`;
  await onServer(databaseOf(serverUrl, name).href, [
    `select citus_set_coordinator_host(${at(serverUrl)})`,
    ...workers().map((worker) => `select citus_add_node(${at(worker)})`),
  ]);
};

/** Distributes the tables of settlement after the migrations. */
export const distribute = async (adminUrl: string): Promise<void> => {
  if (!isCitus()) return;
  await onServer(adminUrl, [
    'set client_min_messages = warning',
    `set search_path = ${pg.escapeIdentifier(schemaName('settlement'))}, public`,
    ...readFileSync(DISTRIBUTION, 'utf8').split('\n\n'),
  ]);
};

/** Ends the sessions that Citus itself has in a database: one with a session is not copied. */
export const endSessions = async (nodes: readonly string[], name: string): Promise<void> => {
  if (!isCitus()) return;
  await onServers(nodes, [
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${pg.escapeLiteral(name)}`,
  ]);
};
