import { startServers } from '../../../deploy/local/servers/start-servers.ts';
import { createTemplate } from '../../support/servers/migrated-database.ts';
import { testStateDir } from '../../support/servers/test-state.ts';

/**
 * The server of POSTGRES_URL (superuser), or one that is started, with the migrated database that
 * each run copies.
 */
export const startPostgres = async (): Promise<{ stop: () => Promise<void> }> => {
  const started =
    process.env.POSTGRES_URL === undefined
      ? await startServers({
          stateDir: testStateDir('simulation'),
          // Given, so that they are not started.
          external: { natsUrl: 'nats://unused', redisUrl: 'redis://unused' },
        })
      : null;
  process.env.POSTGRES_URL ??= started!.postgresUrl;
  const template = await createTemplate(process.env.POSTGRES_URL);
  return {
    stop: async () => {
      await template.drop();
      await started?.stop();
    },
  };
};
