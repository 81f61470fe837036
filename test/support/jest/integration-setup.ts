import { type RunningServers, startServers } from '../../../deploy/local/servers/start-servers.ts';
import { testPrograms } from '../packages/programs.ts';
import type { TestDatabase } from '../servers/database-handle.ts';
import { createTemplate } from '../servers/migrated-database.ts';
import { removeOldCompiledCode, testStateDir } from '../servers/test-state.ts';
import { externalServers } from './external-servers.ts';
import { totals } from './last-line.ts';

export type WithServers = typeof globalThis & {
  testServers?: RunningServers;
  testTemplate?: Pick<TestDatabase, 'drop'>;
};

/**
 * Starts Postgres, NATS (without accounts, all rights for all clients) and Redis once for all
 * integration tests, and migrates the database that they copy.
 */
export default async function setUp(): Promise<void> {
  totals();
  removeOldCompiledCode();
  const servers = await startServers({
    stateDir: testStateDir('integration'),
    external: externalServers,
    print: (line) => console.log(line),
  });
  process.env.TEST_PROGRAMS = await testPrograms();
  (globalThis as WithServers).testServers = servers;
  process.env.POSTGRES_URL = servers.postgresUrl;
  process.env.NATS_URL = servers.natsUrl;
  process.env.REDIS_URL = servers.redisUrl;
  (globalThis as WithServers).testTemplate = await createTemplate(servers.postgresUrl);
}
