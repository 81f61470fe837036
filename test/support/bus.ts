import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServers } from '../../deploy/local/start-servers.ts';
import { type Bus, connectBus } from '../../shared/bus/connect.ts';
import { ensureStreams } from '../../shared/bus/setup.ts';
import type { BusUser } from '../../shared/contract/service.ts';
import { createLogger } from '../../shared/lib/logger.ts';

export type TestBus = {
  url: string;
  /** Connected as this user; closed with the rest. */
  as: (user: BusUser) => Promise<Bus>;
  stop: () => Promise<void>;
};

/**
 * A NATS server of its own with the product's streams. Suites run beside each other, and on a shared one the stand-ins
 * of one would answer the calls and take the jobs of another.
 */
export const createTestBus = async (): Promise<TestBus> => {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'test-bus-'));
  const servers = await startServers({
    stateDir,
    // Named, so that they are not started.
    external: { postgresUrl: 'postgres://unused', redisUrl: 'redis://unused' },
  });
  await ensureStreams({ servers: servers.natsUrl });
  const connections: Bus[] = [];
  return {
    url: servers.natsUrl,
    as: async (user) => {
      const logger = createLogger(user, 'fatal');
      const bus = await connectBus({ url: servers.natsUrl, user, password: '', logger });
      connections.push(bus);
      return bus;
    },
    stop: async () => {
      for (const { nc } of connections) await nc.close();
      await servers.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
};
