import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SERVICE_NAMES, type ServiceName } from '../../shared/contract/service.ts';
import { migrateEnvironment } from '../../shared/db/migrate.ts';
import { roleName } from '../../shared/db/names.ts';

/** A migrated database for one test file. */
export type TestDatabase = {
  /** Connects as a service does: with its role, on its schema. */
  url: (service: ServiceName) => string;
  /** The same database as superuser, to read a service's tables and to set the clock. */
  adminUrl: string;
  /**
   * Sets the offset of app_now() in this database, for instance to `'15 minutes'`. It replaces the
   * previous offset.
   */
  shiftClock: (interval: string) => Promise<void>;
  /** The same for the duration of the work. */
  withClock: <T>(interval: string, work: () => Promise<T>) => Promise<T>;
  drop: () => Promise<void>;
};

const onServer = async (url: string, statements: readonly string[]): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
};

/**
 * A pool that was ended closes its connections a moment later. A forced drop in between would cause
 * an error that no code catches. Connections that stay longer are terminated.
 */
const othersGone = async (serverUrl: string, database: string): Promise<void> => {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    for (let attempts = 0; attempts < 100; attempts += 1) {
      const { rowCount } = await client.query('select 1 from pg_stat_activity where datname = $1', [
        database,
      ]);
      if (rowCount === 0) return;
      await sleep(20);
    }
  } finally {
    await client.end();
  }
};

/** How many statements wait for a lock in the database of this pool. */
export const waitingForLocks = async (admin: pg.Pool): Promise<number> => {
  const { rowCount } = await admin.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rowCount ?? 0;
};

/**
 * Creates `quittance_<random>` on the server of POSTGRES_URL (superuser) and migrates it as a
 * deployment does. Roles belong to the server, so `drop` removes them too.
 */
export const createTestDatabase = async (serverUrl = process.env.POSTGRES_URL): Promise<TestDatabase> => {
  if (serverUrl === undefined) throw new Error('POSTGRES_URL is not set: this is an integration test');
  const name = `quittance_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await onServer(serverUrl, [`create database "${name}"`]);

  const admin = new URL(serverUrl);
  admin.pathname = `/${name}`;
  const drop = async () => {
    await othersGone(serverUrl, name);
    await onServer(serverUrl, [
      `drop database if exists "${name}" with (force)`,
      ...SERVICE_NAMES.map((service) => `drop role if exists "${roleName(name, service)}"`),
    ]);
  };
  try {
    await migrateEnvironment({
      adminUrl: admin.href,
      passwords: Object.fromEntries(SERVICE_NAMES.map((service) => [service, password])) as Record<
        ServiceName,
        string
      >,
    });
  } catch (error) {
    await drop();
    throw error;
  }
  const shiftClock = (interval: string) =>
    onServer(admin.href, [
      'create table if not exists public.clock_offset (shift interval)',
      'grant select on public.clock_offset to public',
      'delete from public.clock_offset',
      `insert into public.clock_offset values (${pg.escapeLiteral(interval)})`,
    ]);
  return {
    url: (service) => {
      const url = new URL(admin);
      url.username = roleName(name, service);
      url.password = password;
      return url.href;
    },
    adminUrl: admin.href,
    shiftClock,
    withClock: async (interval, work) => {
      await shiftClock(interval);
      try {
        return await work();
      } finally {
        await shiftClock('0');
      }
    },
    drop,
  };
};
