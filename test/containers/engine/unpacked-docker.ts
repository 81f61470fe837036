import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { waitUntil } from '../../support/base/wait.ts';
import { run, succeeds } from '../command.ts';
import type { Packages } from './debian-packages.ts';
import type { Engine } from './engine.ts';
import { createNamespaces, endNamespaces, entering, type Namespaces } from './namespaces.ts';

const PACKAGES = [
  ...['docker.io', 'docker-cli', 'docker-compose', 'docker-buildx', 'containerd', 'runc', 'tini'],
  ...['iptables', 'iproute2', 'slirp4netns', 'base-files', 'base-passwd', 'dash', 'coreutils', 'util-linux'],
  'mount',
];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin';
const START_MS = 120_000;
const END_MS = 15_000;
export const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** What `stopUnpacked` needs to know of a kept engine. */
type Record = Namespaces & { cgroup: string };
const recordOf = (work: string): string => path.join(work, 'engine.json');

/** The root file system of Docker, unless an earlier call has completed it. */
export const unpackDocker = async (packages: () => Promise<Packages>, work: string): Promise<void> => {
  const root = path.join(work, 'engine');
  const complete = path.join(work, 'engine.complete');
  if (existsSync(complete)) return;
  await (await packages()).unpack(PACKAGES, root);
  // What the packages' scripts and a first start would do.
  for (const name of ['iptables', 'iptables-save', 'iptables-restore', 'ip6tables'])
    if (!existsSync(path.join(root, 'usr/sbin', name)))
      symlinkSync('xtables-nft-multi', path.join(root, 'usr/sbin', name));
  for (const folder of ['root', 'tmp', 'etc/ssl/certs'])
    mkdirSync(path.join(root, folder), { recursive: true });
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, path.join(root, CERTIFICATES));
  // The address at which slirp4netns answers for this machine's name servers.
  rmSync(path.join(root, 'etc/resolv.conf'), { force: true });
  writeFileSync(path.join(root, 'etc/resolv.conf'), 'nameserver 10.0.2.3\n');
  writeFileSync(path.join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
  writeFileSync(complete, '');
};

/** A command `docker` for this machine that runs the client inside the namespaces. */
const writeClient = (work: string, pid: number): string => {
  const file = path.join(work, 'docker');
  const socket = `unix://${work}/docker.sock`;
  const environment = `PATH=${PATH} HOME=/root TMPDIR=/tmp DOCKER_HOST=${socket}`;
  writeFileSync(
    file,
    `#!/bin/sh\n${environment} exec ${path.resolve('/usr/bin', 'nsenter')} ${entering(pid).slice(1).join(' ')} docker "$@"\n`,
  );
  chmodSync(file, 0o755);
  return file;
};

/**
 * Starts the unpacked Docker in namespaces of its own.
 * @param work holds all that it writes
 * @param keep whether it outlives this process
 */
export const startDocker = async (work: string, keep: boolean): Promise<Engine> => {
  const cgroup = `quittance-containers-${process.pid}`;
  const namespaces = await createNamespaces(path.join(work, 'engine'), work, keep);
  const record: Record = { ...namespaces, cgroup };
  writeFileSync(recordOf(work), JSON.stringify(record));
  const docker = writeClient(work, namespaces.pid);
  const log = openSync(path.join(work, 'dockerd.log'), 'a');
  const [enter, ...entry] = entering(namespaces.pid);
  const server = spawn(
    enter!,
    [
      ...[...entry, 'dockerd', `--host=unix://${work}/docker.sock`, `--data-root=${work}/images`],
      ...['--exec-root=/run/docker', '--pidfile=/run/docker.pid', `--cgroup-parent=/${cgroup}`],
      ...['--exec-opt=native.cgroupdriver=cgroupfs', '--ip6tables=false', '--init-path=/usr/bin/tini-static'],
    ],
    { env: { PATH, HOME: '/root' }, stdio: ['ignore', log, log], detached: true },
  );
  server.unref();
  const stop = async () => {
    await endDocker(work, record);
  };
  try {
    await waitUntil(async () => server.exitCode !== null || (await succeeds(docker, ['info'])), {
      withinMs: START_MS,
      everyMs: 200,
    });
    if (server.exitCode !== null) throw new Error('it ended');
  } catch (error) {
    await stop();
    const lines = readFileSync(path.join(work, 'dockerd.log'), 'utf8').trimEnd().split('\n').slice(-5);
    throw new Error(
      `the unpacked Docker does not answer (${(error as Error).message}):\n${lines.join('\n')}`,
    );
  }
  const version = (await run(docker, ['version', '--format', '{{.Server.Version}}'])).trim();
  const compose = (await run(docker, ['compose', 'version', '--short'])).trim();
  const inNetwork = ['nsenter', `--target=${namespaces.pid}`, '--net', '--'];
  const description = `Docker ${version} and Compose ${compose}, unpacked`;
  return { description, docker, inNetwork, isOwn: true, stop };
};

const endDocker = async (work: string, record: Record): Promise<void> => {
  const [enter, ...entry] = entering(record.pid);
  // An orderly end, so that a cache holds complete images.
  await run(enter!, [...entry, 'sh', '-c', 'kill $(cat /run/docker.pid)']).catch(() => {});
  await waitUntil(async () => !(await succeeds(path.join(work, 'docker'), ['info'])), {
    withinMs: END_MS,
    everyMs: 200,
  }).catch((error) => appendFileSync(path.join(work, 'dockerd.log'), `${error}\n`));
  await endNamespaces(record, record.cgroup);
  rmSync(recordOf(work), { force: true });
};

/** Ends an engine that an earlier command left running. Without one it does nothing. */
export const stopUnpacked = async (work: string): Promise<void> => {
  if (existsSync(recordOf(work)))
    await endDocker(work, JSON.parse(readFileSync(recordOf(work), 'utf8')) as Record);
};
