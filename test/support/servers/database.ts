import type pg from 'pg';
import { SERVICE_NAMES } from '../../../shared/contract/service.ts';
import { roleName } from '../../../shared/db/names.ts';
import { suiteClockOffsetMs } from '../base/suite-clock.ts';
import {
  databaseOf,
  handle,
  newName,
  nodesOf,
  onServers,
  othersGone,
  type TestDatabase,
} from './database-handle.ts';

/** How many statements wait for a lock in the database of this pool. */
export const waitingForLocks = async (admin: pg.Pool): Promise<number> => {
  const { rowCount } = await admin.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rowCount ?? 0;
};

/**
 * Creates `quittance_<random>` on the server of POSTGRES_URL (superuser) as a copy of the migrated
 * template, at the clock of the suite. The roles are those of the template. What a role may and how
 * its sessions are set belongs to a database, and is not copied.
 */
export const createTestDatabase = async (): Promise<TestDatabase> => {
  const { POSTGRES_URL: serverUrl, TEST_DATABASE } = process.env;
  if (serverUrl === undefined || TEST_DATABASE === undefined)
    throw new Error('POSTGRES_URL or TEST_DATABASE is not set: this is an integration test');
  const template = JSON.parse(TEST_DATABASE) as { name: string; password: string };
  const name = newName();
  const nodes = nodesOf(serverUrl);
  await onServers(nodes, [
    // Half the CPU of a copy through the write-ahead log.
    `create database "${name}" template "${template.name}" strategy file_copy`,
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
    await onServers(nodes, [`drop database if exists "${name}" with (force)`]);
  };
  const adminUrl = databaseOf(serverUrl, name).href;
  const made = handle({
    adminUrl,
    nodeUrls: nodes.map((node) => databaseOf(node, name).href),
    rolesOf: template.name,
    password: template.password,
    clockOffsetMs: suiteClockOffsetMs,
  });
  await made.shiftClock('0');
  return { ...made, drop };
};
