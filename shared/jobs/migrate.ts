// A job that runs before the services of a release start. It migrates the database of one
// environment.
import { z } from 'zod';
import { SERVICE_NAMES, type ServiceName } from '../contract/service.ts';
import { migrateEnvironment } from '../db/migrate.ts';
import { commonConfig, JsonText, loadConfig } from '../lib/config.ts';
import { databaseUrlWithTls } from '../lib/transport.ts';

const Passwords = z.strictObject(
  Object.fromEntries(SERVICE_NAMES.map((name) => [name, z.string().min(16)])) as Record<
    ServiceName,
    z.ZodString
  >,
);

const { POSTGRES_ADMIN_URL, DATABASE_PASSWORDS, TLS_CA_FILE } = loadConfig(
  z.object({
    /** A superuser or the owner of the environment's database, which must exist. */
    POSTGRES_ADMIN_URL: z.url({ protocol: /^postgres(ql)?$/ }),
    TLS_CA_FILE: commonConfig.TLS_CA_FILE,
    /** JSON: service → password of its role. */
    DATABASE_PASSWORDS: JsonText.pipe(Passwords),
  }),
);

const adminUrl = databaseUrlWithTls(POSTGRES_ADMIN_URL, TLS_CA_FILE);
await migrateEnvironment({ adminUrl, passwords: DATABASE_PASSWORDS });
console.log(JSON.stringify({ msg: 'migrated' }));
