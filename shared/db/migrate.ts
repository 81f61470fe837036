import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { ServiceName } from '../contract/service.ts';
import { Refusal } from '../lib/refusal.ts';
import { build } from '../lib/telemetry/version.ts';
import { type Databases, distinctDatabases, type SharedDatabase } from './databases.ts';
import { foldersOf, migrationsOf } from './migrations.ts';
import { MIGRATIONS_TABLE, roleName, schemaName } from './names.ts';
import { examine, type Report, type Runnable, runMigrations, takeTurn } from './run-migrations.ts';

/**
 * The repository's root. It is two folders above this file and above a bundled program, and one
 * above a part that several bundled programs share.
 */
const root = ['../../', '../', './']
  .map((up) => new URL(up, import.meta.url))
  .find((place) => existsSync(new URL('shared/db/clock.sql', place)))!;
const folder = (path: string) => fileURLToPath(new URL(path, root));

/**
 * The migrations of a service with their SQL.
 * @throws Refusal for a file that is not the one of `shared/db/checksums.ts`
 */
const readMigrations = (service: ServiceName): Runnable[] => {
  const listed = migrationsOf(service);
  const isListed = (name: string) => listed.some((each) => each.name === name);
  const added = foldersOf(service)
    .flatMap((each) => globSync('*.sql', { cwd: folder(each) }).map((file) => path.posix.join(each, file)))
    .find((name) => !isListed(name));
  if (added !== undefined) throw new Refusal(`${added} has no checksum yet: run npm run generate`);
  return listed.map(({ name, checksum }) => {
    const text = readFileSync(folder(name), 'utf8');
    if (createHash('sha256').update(text).digest('hex') !== checksum)
      throw new Refusal(
        `${name} has changed: restore the file, because a migration never changes, and write the change as another one`,
      );
    return { name, checksum, text };
  });
};

/** Tables of a schema whose rows the service does not change. */
const NOT_CHANGED = ['operator_actions', MIGRATIONS_TABLE];

/**
 * A service reads and writes rows and nothing else. The schema and its tables belong to the
 * migrating user, because an owner could drop them, or grant itself every right. It adds actions of
 * operators by the columns that it decides, and the table adds the id, the time and the hashes.
 */
const grantRows = async (admin: pg.Client, schema: string, role: string): Promise<void> => {
  const { rows } = await admin.query<{ table: string }>(
    `select format('%I.%I', schemaname, tablename) as table from pg_tables
     where schemaname = $1 and tablename <> all($2)`,
    [schema, NOT_CHANGED],
  );
  const tables = rows.map(({ table }) => table).join();
  await admin.query(
    `grant usage on schema "${schema}" to "${role}";
     grant select, insert, update, delete on ${tables} to "${role}";
     grant select on "${schema}".${MIGRATIONS_TABLE} to "${role}";
     grant select, insert (actor, action, target, reason, before, after) on "${schema}".operator_actions to "${role}"`,
  );
};

/**
 * The planner settings of the services. Statements are prepared, so a plan is used for minutes: a
 * plan that was made for a small table must not scan a large one. JIT compilation does not
 * pay off for such short statements.
 */
const PLANNING = { enable_seqscan: 'off', jit: 'off' };

/** A database with its schemas, what has to run in each, and what a later release has run there. */
type Examined = SharedDatabase & {
  admin: pg.Client;
  schemas: ({ service: ServiceName; schema: string } & Awaited<ReturnType<typeof examine<Runnable>>>)[];
};

/** Runs what is pending in one database, and gives each service its role. */
const migrateDatabase = async (
  { admin, schemas }: Examined,
  passwords: Record<ServiceName, string>,
  report: Report,
): Promise<void> => {
  const { rows } = await admin.query<{ name: string }>('select current_database() as name');
  const database = rows[0]!.name;
  await admin.query(readFileSync(folder('shared/db/clock.sql'), 'utf8'));
  // No service may create anything outside its schema or use another schema.
  await admin.query(
    `revoke create on schema public from public; revoke all on database "${database}" from public`,
  );
  for (const { service, schema, pending } of schemas) {
    const role = roleName(database, service);
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
    await runMigrations(admin, schema, pending, report);
    await grantRows(admin, schema, role);
  }
};

const examineDatabase = async (
  admin: pg.Client,
  shared: SharedDatabase,
  migrations: ReadonlyMap<ServiceName, readonly Runnable[]>,
): Promise<Examined> => {
  const schemas: Examined['schemas'] = [];
  for (const service of shared.services) {
    const schema = schemaName(service);
    schemas.push({ service, schema, ...(await examine(admin, schema, migrations.get(service)!)) });
  }
  return { ...shared, admin, schemas };
};

/**
 * Migrates the databases of one environment: the clock, a role and a schema per service, and its
 * migrations. It is safe to run at any time, also concurrently. All schemas are compared first, and
 * nothing is changed if one of them is refused, or was migrated by a later release.
 * @param databases the URL of the migrating user, to whom schemas and tables belong: the owner of
 *   the database with `createrole`, or a superuser. It must be the same user at each run.
 * @param passwords the passwords of the services' roles; every run sets them, so a run with another
 * password rotates it
 * @returns what was applied, as `schema: name`
 * @throws Refusal in one line that names schema and migration and says what to do
 */
export const migrateEnvironment = async ({
  databases,
  passwords,
  report = () => {},
}: {
  databases: Databases;
  passwords: Record<ServiceName, string>;
  report?: Report;
}): Promise<string[]> => {
  const all = distinctDatabases(databases);
  const migrations = new Map(
    all.flatMap(({ services }) => services).map((service) => [service, readMigrations(service)]),
  );
  const admins: pg.Client[] = [];
  try {
    const examined: Examined[] = [];
    for (const shared of all) {
      const admin = new pg.Client({ connectionString: shared.url });
      admins.push(admin);
      await admin.connect();
      await takeTurn(admin, report);
      examined.push(await examineDatabase(admin, shared, migrations));
    }
    const schemas = examined.flatMap((each) => each.schemas);
    const later = schemas.find(({ newer }) => newer.length > 0);
    if (later !== undefined) {
      const { name, release } = later.newer.at(-1)!;
      const behind = schemas.find(({ pending }) => pending.length > 0);
      if (behind !== undefined)
        throw new Refusal(
          `${behind.schema}: ${behind.pending[0]!.name} is not applied, but release ${release} has applied ${name} to ${later.schema}: migrate with a build of that release`,
        );
      report(
        `${later.schema}: ${name} was applied by release ${release}, which is later than this build (${build.version}): nothing was changed, and the services of this build may run`,
      );
      return [];
    }
    await Promise.all(examined.map((database) => migrateDatabase(database, passwords, report)));
    return schemas.flatMap(({ schema, pending }) => pending.map(({ name }) => `${schema}: ${name}`));
  } finally {
    await Promise.all(admins.map((admin) => admin.end()));
  }
};
