import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Supervisor } from '../processes/supervisor.ts';
import { dockerAnswers } from './binaries.mjs';
import { type NatsAccount, natsConf } from './nats-conf.ts';

/** A container is not our child: it is not restarted and not in stack.json. */
type Container = { address: string };

type DockerOptions = { stateDir: string; supervisor: Supervisor };

/**
 * Whether this server runs in Docker, because of `SERVERS=docker` or because no binary was found.
 */
export function useDocker(found: boolean): boolean {
  if (process.env.SERVERS !== 'docker' && found) return false;
  if (dockerAnswers()) return true;
  if (process.env.SERVERS !== 'docker') return false;
  throw new Error(
    'SERVERS=docker is set, but no Docker daemon answers `docker info`: start Docker or unset SERVERS',
  );
}

export async function dockerPostgres(
  options: DockerOptions,
  name: string,
  password: string,
): Promise<Container> {
  return run(options, {
    image: 'postgres:18',
    volume: name,
    port: 5432,
    environment: { POSTGRES_PASSWORD: password },
    folder: '/var/lib/postgresql',
    command: ['postgres', '-c', 'max_connections=400'],
  });
}

export async function dockerRedis(options: DockerOptions): Promise<Container> {
  return run(options, {
    image: 'redis:8',
    port: 6379,
    command: ['redis-server', '--save', '', '--appendonly', 'no'],
  });
}

export async function dockerNats(
  options: DockerOptions,
  accounts: readonly NatsAccount[],
): Promise<Container> {
  const content = natsConf({ host: '0.0.0.0', port: 4222, storeDir: '/data', accounts });
  const target = '/etc/nats/local.conf';
  return run(options, {
    image: 'nats:2',
    volume: 'nats',
    port: 4222,
    folder: '/data',
    command: ['-c', target],
    files: [{ content, target }],
  });
}

/**
 * Its data are in a volume named after the state folder. testcontainers removes the container if
 * this process is killed.
 */
async function run(
  { stateDir, supervisor }: DockerOptions,
  server: {
    image: string;
    /** Part of the name of the volume. */
    volume?: string;
    port: number;
    command: string[];
    environment?: Record<string, string>;
    folder?: string;
    files?: { content: string; target: string }[];
  },
): Promise<Container> {
  // Loaded on demand, because loading takes half a second and few starts need it.
  const { GenericContainer, Wait } = await import('testcontainers');
  let container = new GenericContainer(server.image)
    .withExposedPorts({ container: server.port, host: 0 })
    .withCommand(server.command)
    .withEnvironment(server.environment ?? {})
    .withCopyContentToContainer(server.files ?? [])
    .withWaitStrategy(Wait.forListeningPorts());
  if (server.folder) {
    const hash = createHash('sha256').update(path.resolve(stateDir)).digest('hex').slice(0, 12);
    const volume = `quittance-${hash}-${server.volume}`;
    container = container.withBindMounts([{ source: volume, target: server.folder }]);
  }
  const started = await container.start();
  supervisor.alsoStop(async () => {
    await started.stop();
  });
  return { address: `${started.getHost()}:${started.getMappedPort(server.port)}` };
}
