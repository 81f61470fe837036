import path from 'node:path';
import type { Databases } from '../../../shared/db/databases.ts';
import { takeLock } from '../processes/lock.ts';
import { createSupervisor } from '../processes/supervisor.ts';
import { chooseNats, choosePostgres, chooseRedis, type ExternalServers } from './choose-servers.ts';
import { createPortPicker } from './ports.ts';

export type RunningServers = {
  /** Superuser, database `postgres`: of the first server, or of the only one. */
  postgresUrl: string;
  /** The same of each service. */
  postgresUrls: Databases;
  natsUrl: string;
  redisUrl: string;
  stop: () => Promise<void>;
};

/**
 * Starts only the servers, on free ports, for tests that need no more. Servers in `external`
 * are used as they are. NATS has no accounts, so every client has all rights.
 */
export async function startServers(options: {
  stateDir: string;
  external?: ExternalServers;
  /** How many servers of Postgres. Default 1. */
  databases?: number | undefined;
  print?: (line: string) => void;
}): Promise<RunningServers> {
  const { stateDir, external = {}, databases, print = () => {} } = options;
  const lock = await takeLock(stateDir, print);
  const logDir = path.join(stateDir, 'logs');
  const supervisor = createSupervisor({ logDir, stackFile: path.join(stateDir, 'stack.json'), lock, print });
  const stop = async (): Promise<void> => {
    await supervisor.stop();
    lock.release();
  };
  try {
    const choice = { stateDir, external, durable: false, port: createPortPicker().any, supervisor };
    const postgres = await choosePostgres(choice, databases);
    const nats = await chooseNats(choice, []);
    const redis = await chooseRedis(choice);
    await supervisor.start([...postgres.servers, nats, redis].flatMap(({ spec }) => (spec ? [spec] : [])));
    return {
      postgresUrl: postgres.urls.settlement,
      postgresUrls: postgres.urls,
      natsUrl: nats.url,
      redisUrl: redis.url,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
