import type { ServiceName } from '../../../shared/contract/service.ts';
import type { Databases } from '../../../shared/db/databases.ts';
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
export type ExternalServers = { postgresUrls?: Databases; natsUrl?: string; redisUrl?: string };

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

/** The services in the order in which they get a server of their own: the busiest first. */
const BUSIEST_FIRST: readonly ServiceName[] = [
  'settlement',
  'chain-submitter',
  'webhook',
  'wallet',
  'quote',
  'funding',
  'identity',
];

export const MAX_DATABASES = BUSIEST_FIRST.length;

/**
 * The servers of Postgres with their services. The last one has all services without one of their
 * own, and the same name and folder for every count.
 */
export const postgresServers = (count: number): { name: string; services: ServiceName[] }[] => [
  ...BUSIEST_FIRST.slice(0, count - 1).map((service) => ({
    name: `postgres-${service}`,
    services: [service],
  })),
  { name: 'postgres', services: BUSIEST_FIRST.slice(count - 1) },
];

/**
 * The servers of Postgres, and the one of each service: superuser, database `postgres`. The
 * binaries are part of the node modules, so they always exist.
 * @param count how many servers, 1 to the number of services
 */
export async function choosePostgres(
  choice: ServerChoice,
  count = 1,
): Promise<{ servers: Server[]; urls: Databases }> {
  if (choice.external?.postgresUrls) return { servers: [], urls: choice.external.postgresUrls };
  const servers: Server[] = [];
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const { name, services } of postgresServers(count)) {
    const server = await chooseOnePostgres(choice, name, count > 1);
    servers.push(server);
    for (const service of services) urls[service] = server.url;
  }
  return { servers, urls: urls as Databases };
}

async function chooseOnePostgres(
  choice: ServerChoice,
  name: string,
  isOneOfSeveral: boolean,
): Promise<Server> {
  if (useDocker(true)) {
    const password = superuserPassword(choice.stateDir);
    const { address } = await dockerPostgres(choice, name, password);
    return { url: `postgres://postgres:${password}@${address}/postgres` };
  }
  return postgresServer({ ...choice, name, isOneOfSeveral, port: await choice.port(5432) });
}

/**
 * A streaming replica of each of our own servers of Postgres, for the reads of services, and which
 * replica a server's URL has. They start after their servers.
 */
export async function chooseReadReplicas(
  choice: ServerChoice,
  servers: readonly Server[],
): Promise<{ specs: ProcessSpec[]; urlOf: (primaryUrl: string) => string | undefined }> {
  const urls = new Map<string, string>();
  const specs: ProcessSpec[] = [];
  for (const { url, spec } of servers) {
    // Whoever brings a server brings its replica, too.
    if (spec === undefined) continue;
    const [name, port] = [`${spec.name}-replica`, await choice.port(5532)];
    const replica = await postgresServer({ ...choice, name, port, replicaOf: url });
    specs.push(replica.spec);
    urls.set(url, replica.url);
  }
  return { specs, urlOf: (url) => urls.get(url) };
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
