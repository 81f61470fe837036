import path from 'node:path';
import { takeLock } from '../processes/lock.ts';
import { createSupervisor } from '../processes/supervisor.ts';
import { chooseNats, choosePostgres, chooseRedis, type ExternalServers } from './choose-servers.ts';
import { createPortPicker } from './ports.ts';

export type RunningServers = {
  /** Superuser, database `postgres`. */
  postgresUrl: string;
  natsUrl: string;
  redisUrl: string;
  stop: () => Promise<void>;
};

/**
 * Starts only the three servers, on free ports, for tests that need no more. Servers in `external`
 * are used as they are. NATS has no accounts, so every client has all rights.
 */
export async function startServers(options: {
  stateDir: string;
  external?: ExternalServers;
  print?: (line: string) => void;
}): Promise<RunningServers> {
  const { stateDir, external = {}, print = () => {} } = options;
  const lock = await takeLock(stateDir, print);
  const logDir = path.join(stateDir, 'logs');
  const supervisor = createSupervisor({ logDir, stackFile: path.join(stateDir, 'stack.json'), lock, print });
  const stop = async (): Promise<void> => {
    await supervisor.stop();
    lock.release();
  };
  try {
    const choice = { stateDir, external, durable: false, port: createPortPicker().any, supervisor };
    const postgres = await choosePostgres(choice);
    const nats = await chooseNats(choice, []);
    const redis = await chooseRedis(choice);
    await supervisor.start([postgres, nats, redis].flatMap(({ spec }) => (spec ? [spec] : [])));
    return { postgresUrl: postgres.url, natsUrl: nats.url, redisUrl: redis.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
