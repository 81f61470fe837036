import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { SERVICE_NAMES, type ServiceName } from '../contract/service.ts';

/** Folder, schema and role names: `-` becomes `_` where SQL needs it. */
export const schemaName = (service: ServiceName): string => service.replaceAll('-', '_');

/** The login role of a service, unique per database because roles are the server's. */
export const roleName = (database: string, service: ServiceName): string =>
  `${database}_${schemaName(service)}`;

/**
 * From the repository's root, two folders up: of this file, and of the program that it becomes a
 * part of.
 */
const folder = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const migrateSchema = async (url: string, schema: string, dir: string, migrationsTable: string) => {
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

/** Owned by whoever migrates, not by the service: an owner could give itself every right on it. */
const makeAuditTable = async (admin: pg.Client, schema: string, role: string): Promise<void> => {
  await admin.query(`set search_path = "${schema}", public`);
  await admin.query(readFileSync(folder('shared/db/audit.sql'), 'utf8'));
  await admin.query(`grant select, insert on operator_actions to "${role}"`);
  await admin.query('reset search_path');
};

/**
 * How the services' statements are planned. They are prepared, so a plan lives for minutes: one
 * made while a table was small must not read all of it when it has grown (ADR 28). Nor are they
 * worth compiling: none takes that long.
 */
const PLANNING = { enable_seqscan: 'off', jit: 'off' };

/**
 * Brings one environment's database to the present: the clock, a role and a schema per service, the
 * shared tables and each service's own migrations, run as the service's role. Safe to run at any
 * time and by two at once (node-pg-migrate locks).
 * @param adminUrl superuser, or owner of the database who may make roles (`createrole`)
 * @param passwords of the services' roles; set anew at every run, so rotating one is running this
 */
export const migrateEnvironment = async ({
  adminUrl,
  passwords,
}: {
  adminUrl: string;
  passwords: Record<ServiceName, string>;
}): Promise<void> => {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    await admin.query("select pg_advisory_lock(hashtext('quittance.migrate'))");
    const { rows } = await admin.query<{ name: string }>('select current_database() as name');
    const database = rows[0]!.name;
    await admin.query(readFileSync(folder('shared/db/clock.sql'), 'utf8'));
    // No service may create anything outside its own schema, nor use another's.
    await admin.query(
      `revoke create on schema public from public; revoke all on database "${database}" from public`,
    );
    for (const service of SERVICE_NAMES) {
      const [role, schema] = [roleName(database, service), schemaName(service)];
      const exists = await admin.query('select from pg_roles where rolname = $1', [role]);
      if (exists.rowCount === 0) await admin.query(`create role "${role}" login`);
      await admin.query(`alter role "${role}" password ${pg.escapeLiteral(passwords[service])}`);
      await admin.query(
        `grant connect on database "${database}" to "${role}"; grant usage on schema public to "${role}"`,
      );
      // Who is no superuser gives a schema to a role only as one of its members.
      await admin.query(`grant "${role}" to current_user`);
      await admin.query(`create schema if not exists "${schema}" authorization "${role}"`);
      const settings = { search_path: `"${schema}", public`, ...PLANNING };
      for (const [name, value] of Object.entries(settings))
        await admin.query(`alter role "${role}" in database "${database}" set ${name} = ${value}`);

      const url = new URL(adminUrl);
      url.username = role;
      url.password = passwords[service];
      await migrateSchema(url.href, schema, 'shared/db/migrations', 'migrations_shared');
      const own = `services/${service}/migrations`;
      if (existsSync(folder(own))) await migrateSchema(url.href, schema, own, 'migrations');
      await makeAuditTable(admin, schema, role);
    }
  } finally {
    await admin.end();
  }
};
