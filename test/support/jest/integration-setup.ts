import path from 'node:path';
import { type RunningServers, startServers } from '../../../deploy/local/servers/start-servers.ts';
import { testPrograms } from '../packages/programs.ts';
import { createBusTemplate } from '../servers/bus.ts';
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
 * integration tests, and makes the database and the streams that they copy.
 */
export default async function setUp(): Promise<void> {
  totals();
  removeOldCompiledCode();
  const stateDir = testStateDir('integration');
  const servers = await startServers({
    stateDir,
    external: externalServers,
    print: (line) => console.log(line),
  });
  process.env.TEST_PROGRAMS = await testPrograms();
  (globalThis as WithServers).testServers = servers;
  process.env.POSTGRES_URL = servers.postgresUrl;
  process.env.NATS_URL = servers.natsUrl;
  process.env.REDIS_URL = servers.redisUrl;
  const [template] = await Promise.all([
    createTemplate(servers.postgresUrl),
    createBusTemplate(path.join(stateDir, 'bus')),
  ]);
  (globalThis as WithServers).testTemplate = template;
}
