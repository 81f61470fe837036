import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { contracts } from '../contract/index.ts';
import type { HttpOperation, ServiceContract, ServiceName } from '../contract/service.ts';
import { type Databases, distinctDatabases, type SharedDatabase } from './databases.ts';
import { MIGRATION_TABLES, roleName, schemaName } from './names.ts';

/**
 * A path from the repository's root, which is two folders above this file and above the bundled
 * program. Two programs that import this file would share it in another folder, so only the job
 * `migrate` does.
 */
const folder = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const migrateSchema = async (
  url: string,
  schema: string,
  dir: string,
  migrationsTable: (typeof MIGRATION_TABLES)[number],
) => {
  await runner({
    databaseUrl: url,
    dir: folder(dir),
    direction: 'up',
    migrationsTable,
    schema: [schema, 'public'],
    migrationsSchema: schema,
    createSchema: false,
    checkOrder: true,
    singleTransaction: true,
    verbose: false,
    log: () => {},
  });
};

/** Whether a call of the service accepts an Idempotency-Key. */
const hasIdempotentCalls = (service: ServiceName): boolean =>
  Object.values<HttpOperation>(contracts[service].operations).some(({ idempotency }) => idempotency);

const hasLanes = (service: ServiceName): boolean => {
  const contract: ServiceContract = contracts[service];
  return contract.hasLanes === true;
};

/** Tables of a schema whose rows the service does not change. */
const NOT_CHANGED = ['operator_actions', ...MIGRATION_TABLES];

/**
 * Makes the table of operators' actions. The service adds rows by the columns that it decides, and
 * the table adds the id, the time and the hashes.
 */
const makeAuditTable = async (admin: pg.Client, schema: string, role: string): Promise<void> => {
  await admin.query(`set search_path = "${schema}", public, pg_temp`);
  await admin.query(readFileSync(folder('shared/db/audit.sql'), 'utf8'));
  await admin.query(
    `grant select, insert (actor, action, target, reason, before, after) on operator_actions to "${role}"`,
  );
  await admin.query('reset search_path');
};

/**
 * A service reads and writes rows and nothing else. The schema and its tables belong to the
 * migrating user, because an owner could drop them, or grant itself every right.
 */
const grantRows = async (admin: pg.Client, schema: string, role: string): Promise<void> => {
  const { rows } = await admin.query<{ table: string }>(
    `select format('%I.%I', schemaname, tablename) as table from pg_tables
     where schemaname = $1 and tablename <> all($2)`,
    [schema, NOT_CHANGED],
  );
  const tables = rows.map(({ table }) => table).join();
  await admin.query(
    `grant usage on schema "${schema}" to "${role}"; grant select, insert, update, delete on ${tables} to "${role}"`,
  );
};

/**
 * The planner settings of the services. Statements are prepared, so a plan is used for minutes: a
 * plan that was made for a small table must not scan a large one. JIT compilation does not
 * pay off for such short statements.
 */
const PLANNING = { enable_seqscan: 'off', jit: 'off' };

/** One database, with the schemas of the services that it belongs to. */
const migrateDatabase = async (
  { url, services }: SharedDatabase,
  passwords: Record<ServiceName, string>,
): Promise<void> => {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    await admin.query("select pg_advisory_lock(hashtext('quittance.migrate'))");
    const { rows } = await admin.query<{ name: string }>('select current_database() as name');
    const database = rows[0]!.name;
    await admin.query(readFileSync(folder('shared/db/clock.sql'), 'utf8'));
    // No service may create anything outside its schema or use another schema.
    await admin.query(
      `revoke create on schema public from public; revoke all on database "${database}" from public`,
    );
    for (const service of services) {
      const [role, schema] = [roleName(database, service), schemaName(service)];
      const exists = await admin.query('select from pg_roles where rolname = $1', [role]);
      if (exists.rowCount === 0) await admin.query(`create role "${role}" login`);
      await admin.query(`alter role "${role}" password ${pg.escapeLiteral(passwords[service])}`);
      await admin.query(
        `grant connect on database "${database}" to "${role}"; grant usage on schema public to "${role}"`,
      );
      await admin.query(`create schema if not exists "${schema}"`);
      const settings = { search_path: `"${schema}", public`, ...PLANNING };
      for (const [name, value] of Object.entries(settings))
        await admin.query(`alter role "${role}" in database "${database}" set ${name} = ${value}`);
      await migrateSchema(url, schema, 'shared/db/migrations', 'migrations_shared');
      if (hasIdempotentCalls(service)) {
        const dir = 'shared/idempotency/migrations';
        await migrateSchema(url, schema, dir, 'migrations_idempotency');
      }
      if (hasLanes(service)) await migrateSchema(url, schema, 'shared/lanes/migrations', 'migrations_lanes');
      const own = `services/${service}/migrations`;
      if (existsSync(folder(own))) await migrateSchema(url, schema, own, 'migrations');
      await makeAuditTable(admin, schema, role);
      await grantRows(admin, schema, role);
    }
  } finally {
    await admin.end();
  }
};

/**
 * Migrates the databases of one environment: the clock, a role and a schema per service, the shared
 * tables, and the migrations of each service. It is safe to run at any time, also concurrently
 * (node-pg-migrate locks).
 * @param databases the URL of the migrating user, to whom schemas and tables belong: the owner of
 *   the database with `createrole`, or a superuser. It must be the same user at each run.
 * @param passwords the passwords of the services' roles; every run sets them, so a run with another
 * password rotates it
 */
export const migrateEnvironment = async ({
  databases,
  passwords,
}: {
  databases: Databases;
  passwords: Record<ServiceName, string>;
}): Promise<void> => {
  await Promise.all(distinctDatabases(databases).map((database) => migrateDatabase(database, passwords)));
};
