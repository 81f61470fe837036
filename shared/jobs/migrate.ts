// A job that runs before the services of a release start. It migrates the database of one
// environment.
import { z } from 'zod';
import { SERVICE_NAMES, type ServiceName } from '../contract/service.ts';
import { migrateEnvironment } from '../db/migrate.ts';
import { JsonText, loadConfig } from '../lib/config.ts';

const Passwords = z.strictObject(
  Object.fromEntries(SERVICE_NAMES.map((name) => [name, z.string().min(16)])) as Record<
    ServiceName,
    z.ZodString
  >,
);

const { POSTGRES_ADMIN_URL, DATABASE_PASSWORDS } = loadConfig(
  z.object({
    /** A superuser or the owner of the environment's database, which must exist. */
    POSTGRES_ADMIN_URL: z.url({ protocol: /^postgres(ql)?$/ }),
    /** JSON: service → password of its role. */
    DATABASE_PASSWORDS: JsonText.pipe(Passwords),
  }),
);

await migrateEnvironment({ adminUrl: POSTGRES_ADMIN_URL, passwords: DATABASE_PASSWORDS });
console.log(JSON.stringify({ msg: 'migrated' }));
