import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { createSupervisor } from '../../deploy/local/processes/supervisor.ts';
import { natsUserName } from '../../deploy/local/servers/nats-conf.ts';
import { natsServer } from '../../deploy/local/servers/nats-server.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { type Bus, connectBus, drainBus } from '../../shared/bus/connect.ts';
import { ensureStreams } from '../../shared/bus/setup.ts';
import { natsRights } from '../../shared/bus/topology.ts';
import type { BusUser } from '../../shared/contract/service.ts';

const PASSWORD = 'test';

export type TestBus = {
  url: string;
  password: string;
  /** The NATS user of a service, with exactly the rights that it has in a deployment. */
  userOf: (user: BusUser) => string;
  /** A connection as that user, through `port` if it is given. `stop` closes it. */
  as: (user: BusUser, port?: number) => Promise<Bus>;
  port: number;
  stop: () => Promise<void>;
};

/**
 * A nats-server of this suite, with streams, consumers and the rights of a deployment. Two suites
 * on one server would receive each other's calls through the queue groups.
 */
export const createTestBus = async (): Promise<TestBus> => {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'quittance-bus-'));
  const port = await createPortPicker().any();
  const supervisor = createSupervisor({ logDir: stateDir, stackFile: path.join(stateDir, 'stack.json') });
  const userOf = (user: string) => natsUserName('test', user);
  const rights = natsRights();
  const users = [
    { user: userOf('admin'), password: PASSWORD },
    ...Object.entries(rights).map(([user, allowed]) => ({
      user: userOf(user),
      password: PASSWORD,
      rights: allowed,
    })),
  ];
  await supervisor.start([natsServer({ stateDir, port, accounts: [{ name: 'TEST', users }] })]);
  const url = `nats://127.0.0.1:${port}`;
  await ensureStreams({ servers: url, user: userOf('admin'), pass: PASSWORD });
  const open: Bus[] = [];
  return {
    url,
    port,
    password: PASSWORD,
    userOf,
    as: async (user, by = port) => {
      const bus = await connectBus({
        url: `nats://127.0.0.1:${by}`,
        user,
        natsUser: userOf(user),
        password: PASSWORD,
        logger: pino({ level: 'silent' }),
      });
      open.push(bus);
      return bus;
    },
    stop: async () => {
      for (const bus of open) if (!bus.nc.isClosed()) await drainBus(bus);
      await supervisor.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
};

/** What the server refuses to this connection from now on, as `publish <subject>`. */
export const refusals = (nc: Bus['nc']): Set<string> => {
  const found = new Set<string>();
  void (async () => {
    for await (const status of nc.status()) {
      const { permissionContext } = status as { permissionContext?: { operation: string; subject: string } };
      if (permissionContext) found.add(`${permissionContext.operation} ${permissionContext.subject}`);
    }
  })();
  return found;
};
