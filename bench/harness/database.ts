import pg from 'pg';
import { startServers } from '../../deploy/local/servers/start-servers.ts';
import type { ServiceName } from '../../shared/contract/service.ts';
import { connectPool, type Pool } from '../../shared/db/pool.ts';
import { migrateTestDatabase } from '../../test/support/servers/migrated-database.ts';
import { removeStateDir, testStateDir } from '../../test/support/servers/test-state.ts';
import type { Run } from './run.ts';

/** A migrated database alone, as tests have one: without fsync. It is stopped with the run. */
export const startBenchDatabase = async (
  run: Run,
): Promise<{ admin: pg.Pool; poolOf: (service: ServiceName) => Promise<Pool> }> => {
  run.report.progress('starting a database');
  const stateDir = testStateDir(`bench-${run.name}`);
  const servers = await startServers({
    stateDir,
    // Given, so that they are not started.
    external: { natsUrl: 'nats://unused', redisUrl: 'redis://unused' },
  });
  run.defer(async () => {
    await servers.stop();
    removeStateDir(stateDir);
  });
  const database = await migrateTestDatabase(servers.postgresUrl);
  const admin = new pg.Pool({ connectionString: database.adminUrl, max: 2 });
  admin.on('error', () => {});
  run.defer(() => admin.end());
  const poolOf = async (service: ServiceName) => {
    const pool = await connectPool(database.url(service), { max: 2 });
    run.defer(() => pool.end());
    return pool;
  };
  return { admin, poolOf };
};
