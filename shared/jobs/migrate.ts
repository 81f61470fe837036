// A job that runs before the services of a release start. It migrates the databases of one
// environment: that of POSTGRES_ADMIN_URL, and those of POSTGRES_ADMIN_URL_<SERVICE>
// (shared/db/databases.ts).
import { z } from 'zod';
import { SERVICE_NAMES, type ServiceName } from '../contract/service.ts';
import { loadDatabases } from '../db/databases.ts';
import { migrateEnvironment } from '../db/migrate.ts';
import { JsonText, loadConfig } from '../lib/config.ts';
import { Refusal } from '../lib/refusal.ts';

const Passwords = z.strictObject(
  Object.fromEntries(SERVICE_NAMES.map((name) => [name, z.string().min(16)])) as Record<
    ServiceName,
    z.ZodString
  >,
);

const databases = loadDatabases();
const { DATABASE_PASSWORDS } = loadConfig(
  z.object({
    /** JSON: service → password of its role. */
    DATABASE_PASSWORDS: JsonText.pipe(Passwords),
  }),
);

const say = (line: string): void => console.log(JSON.stringify({ msg: line }));
try {
  const applied = await migrateEnvironment({ databases, passwords: DATABASE_PASSWORDS, report: say });
  console.log(JSON.stringify({ msg: 'migrated', applied }));
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  say(error.message);
  process.exitCode = 78; // EX_CONFIG of sysexits.h
}
