import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { ServiceName } from '../../../shared/contract/service.ts';
import { roleName } from '../../../shared/db/names.ts';

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
export const onServer = async (url: string, statements: readonly string[]): Promise<void> => {
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
export const othersGone = async (serverUrl: string, database: string): Promise<void> => {
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

export const databaseOf = (serverUrl: string, database: string): URL => {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url;
};

/** The name of a new database. */
export const newName = (): string => `quittance_${randomBytes(6).toString('hex')}`;

/** @param clockOffsetMs what a shift of the clock is added to */
export const handle = ({
  adminUrl,
  rolesOf,
  password,
  clockOffsetMs = 0,
}: {
  adminUrl: string;
  rolesOf: string;
  password: string;
  clockOffsetMs?: number;
}): Omit<TestDatabase, 'drop'> => {
  const shiftClock = (interval: string) =>
    onServer(adminUrl, [
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
