import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { createSupervisor } from '../../../deploy/local/processes/supervisor.ts';
import type { NatsUser } from '../../../deploy/local/servers/nats-conf.ts';
import { natsServer } from '../../../deploy/local/servers/nats-server.ts';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { type Bus, connectBus, drainBus } from '../../../shared/bus/connect.ts';
import { newNkeySeed, nkeyOf } from '../../../shared/bus/nkey.ts';
import { ensureStreams } from '../../../shared/bus/setup.ts';
import { natsRights, operatorRights } from '../../../shared/bus/topology.ts';
import type { BusUser, Program } from '../../../shared/contract/service.ts';

/** A user of the bus, the operator Jane, or the one with all rights. */
type TestUser = BusUser | 'admin';

const OPERATORS = ['jane', 'joe'] as const;
type OperatorName = (typeof OPERATORS)[number];

export type TestBus = {
  url: string;
  /** The seed of a process, which has exactly the rights that it has in a deployment. */
  seedOf: (user: Program | 'admin' | OperatorName) => string;
  /** A connection as that user, through `port` if it is given. `stop` closes it. */
  as: (user: TestUser, port?: number) => Promise<Bus>;
  asOperator: (name: OperatorName) => Promise<Bus>;
  port: number;
  stop: () => Promise<void>;
};

/** New NKEYs of all users, and the users of the server's configuration. */
export const testUsers = (): { seedOf: TestBus['seedOf']; users: NatsUser[] } => {
  const rights = new Map<string, NatsUser['rights']>([
    ...Object.entries(natsRights()),
    ...OPERATORS.map((name) => [name, operatorRights(name)] as const),
    ['admin', undefined],
  ]);
  const seeds = new Map([...rights.keys()].map((name) => [name, newNkeySeed()]));
  const users = [...rights].map(([name, own]) => ({
    nkeys: [nkeyOf(seeds.get(name)!)],
    ...(own && { rights: own }),
  }));
  return { seedOf: (user) => seeds.get(user)!, users };
};

/** Where a nats-server keeps its streams and consumers. */
const streamsIn = (stateDir: string): string => path.join(stateDir, 'nats/jetstream');

/** Starts a nats-server on a free port. */
const startServer = async (stateDir: string) => {
  const port = await createPortPicker().any();
  const supervisor = createSupervisor({ logDir: stateDir, stackFile: path.join(stateDir, 'stack.json') });
  const { seedOf, users } = testUsers();
  await supervisor.start([natsServer({ stateDir, port, accounts: [{ name: 'TEST', users }] })]);
  return { port, url: `nats://127.0.0.1:${port}`, seedOf, stop: supervisor.stop };
};

/**
 * Makes the streams and consumers once, which `createTestBus` copies: the copy takes a tenth of the
 * time. The tests find them through TEST_BUS.
 * @param stateDir a new folder
 */
export const createBusTemplate = async (stateDir: string): Promise<void> => {
  mkdirSync(stateDir, { recursive: true });
  const { url, seedOf, stop } = await startServer(stateDir);
  try {
    await ensureStreams({ servers: url, seed: seedOf('admin') });
  } finally {
    await stop();
  }
  process.env.TEST_BUS = streamsIn(stateDir);
};

/**
 * A nats-server of this suite, with streams, consumers and the rights of a deployment. Two suites
 * on one server would receive each other's calls through the queue groups.
 */
export const createTestBus = async (): Promise<TestBus> => {
  const { TEST_BUS } = process.env;
  if (TEST_BUS === undefined) throw new Error('TEST_BUS is not set: this is an integration test');
  const stateDir = mkdtempSync(path.join(tmpdir(), 'quittance-bus-'));
  cpSync(TEST_BUS, streamsIn(stateDir), { recursive: true });
  const { port, url, seedOf, stop } = await startServer(stateDir);
  const open: Bus[] = [];
  const connect = async (
    options: Pick<Parameters<typeof connectBus>[0], 'user' | 'operator' | 'seed'>,
    by = port,
  ) => {
    const bus = await connectBus({
      url: `nats://127.0.0.1:${by}`,
      logger: pino({ level: 'silent' }),
      ...options,
    });
    open.push(bus);
    return bus;
  };
  const asOperator = (name: OperatorName, by?: number) =>
    connect({ user: 'operator', operator: name, seed: seedOf(name) }, by);
  return {
    url,
    port,
    seedOf,
    as: (user, by) =>
      user === 'operator'
        ? asOperator('jane', by)
        : connect({ user: user as BusUser, seed: seedOf(user) }, by),
    asOperator: (name) => asOperator(name),
    stop: async () => {
      for (const bus of open) if (!bus.nc.isClosed()) await drainBus(bus);
      await stop();
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
