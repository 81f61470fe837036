import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SERVICE_NAMES, type ServiceName } from '../../shared/contract/service.ts';
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

const databaseOf = (serverUrl: string, database: string): URL => {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url;
};

/**
 * Creates `quittance_<random>` on this server (superuser) and migrates it as a deployment does.
 * Roles belong to the server, so `drop` removes them too.
 */
export const migrateTestDatabase = async (
  serverUrl: string,
): Promise<TestDatabase & { password: string }> => {
  // A suite with a copy of the template does not load the library of the migrations.
  const { migrateEnvironment } = await import('../../shared/db/migrate.ts');
  const name = newName();
  const password = randomBytes(12).toString('hex');
  await onServer(serverUrl, [`create database "${name}"`]);
  const adminUrl = databaseOf(serverUrl, name).href;
  const drop = async () => {
    await othersGone(serverUrl, name);
    await onServer(serverUrl, [
      `drop database if exists "${name}" with (force)`,
      ...SERVICE_NAMES.map((service) => `drop role if exists "${roleName(name, service)}"`),
    ]);
  };
  const passwords = Object.fromEntries(SERVICE_NAMES.map((service) => [service, password]));
  try {
    await migrateEnvironment({ adminUrl, passwords: passwords as Record<ServiceName, string> });
  } catch (error) {
    await drop();
    throw error;
  }
  return { ...handle({ adminUrl, rolesOf: name, password }), password, drop };
};

/**
 * Migrates a database once, which `createTestDatabase` copies: a copy takes a fifth of the time.
 * The tests find it through TEST_DATABASE. `drop` removes it and its roles.
 */
export const createTemplate = async (serverUrl: string): Promise<Pick<TestDatabase, 'drop'>> => {
  const { adminUrl, password, drop } = await migrateTestDatabase(serverUrl);
  const name = new URL(adminUrl).pathname.slice(1);
  await onServer(serverUrl, [`alter database "${name}" allow_connections false`]);
  process.env.TEST_DATABASE = JSON.stringify({ name, password });
  return { drop };
};

/**
 * Creates `quittance_<random>` on the server of POSTGRES_URL (superuser) as a copy of the migrated
 * template. The roles are those of the template. What a role may and how its sessions are set
 * belongs to a database, and is not copied.
 */
export const createTestDatabase = async (): Promise<TestDatabase> => {
  const { POSTGRES_URL: serverUrl, TEST_DATABASE } = process.env;
  if (serverUrl === undefined || TEST_DATABASE === undefined)
    throw new Error('POSTGRES_URL or TEST_DATABASE is not set: this is an integration test');
  const template = JSON.parse(TEST_DATABASE) as { name: string; password: string };
  const name = newName();
  await onServer(serverUrl, [
    `create database "${name}" template "${template.name}"`,
    `revoke all on database "${name}" from public`,
    SERVICE_NAMES.map((service) => roleName(template.name, service))
      .map((role) => `grant connect on database "${name}" to "${role}"`)
      .join(';'),
    // The settings of each role, as the migration made them.
    `do $$ declare one record; begin
       for one in
         select rolname, split_part(setting, '=', 1) as key, substr(setting, strpos(setting, '=') + 1) as value
         from pg_db_role_setting s
         join pg_roles r on r.oid = s.setrole
         join pg_database d on d.oid = s.setdatabase, unnest(setconfig) setting
         where datname = '${template.name}'
       loop
         execute format('alter role %I in database "${name}" set %s = %s', one.rolname, one.key, one.value);
       end loop;
     end $$`,
  ]);
  const drop = async () => {
    await othersGone(serverUrl, name);
    await onServer(serverUrl, [`drop database if exists "${name}" with (force)`]);
  };
  const adminUrl = databaseOf(serverUrl, name).href;
  return { ...handle({ adminUrl, rolesOf: template.name, password: template.password }), drop };
};

const newName = (): string => `quittance_${randomBytes(6).toString('hex')}`;

const handle = ({
  adminUrl,
  rolesOf,
  password,
}: {
  adminUrl: string;
  rolesOf: string;
  password: string;
}): Omit<TestDatabase, 'drop'> => {
  const shiftClock = (interval: string) =>
    onServer(adminUrl, [
      'create table if not exists public.clock_offset (shift interval)',
      'grant select on public.clock_offset to public',
      'delete from public.clock_offset',
      `insert into public.clock_offset values (${pg.escapeLiteral(interval)})`,
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
