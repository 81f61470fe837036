import type { ProcessSpec } from '../processes/process-spec.ts';
import type { Supervisor } from '../processes/supervisor.ts';
import { findBinary } from './binaries.mjs';
import { dockerNats, dockerPostgres, dockerRedis, useDocker } from './docker.ts';
import type { NatsAccount } from './nats-conf.ts';
import { natsServer } from './nats-server.ts';
import { postgresServer, superuserPassword } from './postgres-server.ts';
import { redisServer } from './redis-server.ts';
import type { ServerTls } from './server-process.ts';

const host = '127.0.0.1';

/**
 * A server: our own, with the process to start, or one that runs already, in Docker or elsewhere.
 */
export type Server = { url: string; spec?: ProcessSpec };

/** Running servers that the caller named. They have priority. */
export type ExternalServers = { postgresUrl?: string; natsUrl?: string; redisUrl?: string };

export type ServerChoice = {
  stateDir: string;
  external?: ExternalServers;
  durable?: boolean;
  postgresSettings?: Readonly<Record<string, string>>;
  /** Encrypts the connections to our own servers. */
  tls?: ServerTls;
  port: (preferred: number) => Promise<number>;
  /** Stops containers together with everything else. */
  supervisor: Supervisor;
};

/**
 * Superuser, database `postgres`. The binaries are part of the node modules, so they always exist.
 */
export async function choosePostgres(choice: ServerChoice): Promise<Server> {
  if (choice.external?.postgresUrl) return { url: choice.external.postgresUrl };
  if (useDocker(true)) {
    const password = superuserPassword(choice.stateDir);
    const { address } = await dockerPostgres(choice, password);
    return { url: `postgres://postgres:${password}@${address}/postgres` };
  }
  return postgresServer({ ...choice, port: await choice.port(5432) });
}

export async function chooseRedis(choice: ServerChoice): Promise<Server> {
  if (choice.external?.redisUrl) return { url: choice.external.redisUrl };
  if (useDocker(Boolean(findBinary('redis-server'))))
    return { url: `redis://${(await dockerRedis(choice)).address}` };
  const port = await choice.port(6379);
  const url = choice.tls === undefined ? `redis://${host}:${port}` : `rediss://localhost:${port}`;
  return { url, spec: redisServer({ ...choice, port }) };
}

/** `afterReady` runs after every start of our own server, with its URL. */
export async function chooseNats(
  choice: ServerChoice,
  accounts: readonly NatsAccount[],
  afterReady?: (url: string) => Promise<void>,
): Promise<Server> {
  if (choice.external?.natsUrl) return { url: choice.external.natsUrl };
  if (useDocker(Boolean(findBinary('nats-server')))) {
    return { url: `nats://${(await dockerNats(choice, accounts)).address}` };
  }
  const port = await choice.port(4222);
  const url = choice.tls === undefined ? `nats://${host}:${port}` : `tls://localhost:${port}`;
  const again = afterReady ? { afterReady: () => afterReady(url) } : {};
  return { url, spec: natsServer({ ...choice, port, accounts, ...again }) };
}
