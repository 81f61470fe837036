import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { databaseUrl, ensureDatabase, urlAs } from '../../deploy/local/database.ts';
import { SERVICE_NAMES, type ServiceName } from '../../shared/contract/service.ts';
import { migrateEnvironment, roleName } from '../../shared/db/migrate.ts';

export type TestDatabase = {
  /** As the service's own role, on its own schema. */
  url: (service: ServiceName) => string;
  /** The same database as superuser. */
  adminUrl: string;
  /** Removes the database and its roles. */
  drop: () => Promise<void>;
};

/**
 * A migrated database of its own on the server that POSTGRES_URL names (superuser), so that suites run beside each
 * other.
 */
export const createTestDatabase = async (serverUrl = process.env.POSTGRES_URL): Promise<TestDatabase> => {
  if (serverUrl === undefined) throw new Error('POSTGRES_URL is not set: run the integration project');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const passwords = Object.fromEntries(
    SERVICE_NAMES.map((service) => [service, randomBytes(12).toString('hex')]),
  ) as Record<ServiceName, string>;
  const adminUrl = databaseUrl(serverUrl, name);
  await ensureDatabase(serverUrl, name);
  await migrateEnvironment({ adminUrl, passwords });
  return {
    url: (service) => urlAs(adminUrl, roleName(name, service), passwords[service]),
    adminUrl,
    drop: async () => {
      const client = new pg.Client({ connectionString: serverUrl });
      await client.connect();
      try {
        await client.query(`drop database "${name}" with (force)`);
        for (const service of SERVICE_NAMES) await client.query(`drop role "${roleName(name, service)}"`);
      } finally {
        await client.end();
      }
    },
  };
};
