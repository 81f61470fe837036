import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../support/base/wait.ts';
import { eachOf } from './command.ts';
import { docker, folder, inspect, services } from './running.ts';

/**
 * Proves that SIGTERM ends a container whose program still waits for its servers: the services and
 * both jobs. The servers of these containers accept connections and never answer. An engine has
 * to kill what does not end within the grace period, and the exit code is then 137.
 */
const NETWORK = `quittance-silent-${process.pid}`;
const SILENT = `${NETWORK}-server`;
const PORTS = [4222, 5432, 6379, 8899, 8900, 8901, 1025, 8090];
const GRACE_SECONDS = 60;
const WAIT_MS = 120_000;
const AT_A_TIME = 3;
/** The gateway opens its port before it has reached its servers, so it drains. */
const waiting = Object.keys(services).filter(
  (name) => services[name]!.image === 'quittance:local' && name !== 'gateway',
);
const containerName = (name: string) => `${NETWORK}-${name}`;

beforeAll(async () => {
  await docker('network', 'create', '--internal', NETWORK);
  const script = `
    import { createServer } from 'node:net';
    for (const port of ${JSON.stringify(PORTS)})
      createServer((socket) => {
        socket.on('error', () => {});
        console.log('from ' + socket.remoteAddress.replace('::ffff:', '') + ';');
      }).listen(port);
  `;
  const aliases = ['nats', 'postgres', 'redis', 'chain', 'mail', 'onramps'];
  await docker(
    ...['run', '--detach', '--name', SILENT, '--network', NETWORK, '--init'],
    ...aliases.map((alias) => `--network-alias=${alias}`),
    ...['--entrypoint', 'node', 'quittance-sandbox:local', '--input-type=module', '--eval', script],
  );
});
afterAll(async () => {
  await docker('rm', '--force', '--volumes', SILENT, ...waiting.map(containerName));
  await docker('network', 'rm', NETWORK);
});

/**
 * How often the silent server has been connected to from a container since a time. A container that
 * has ended leaves its address to the next one.
 */
const connectionsOf = async (name: string, since: string): Promise<number> => {
  const { NetworkSettings } = await inspect(containerName(name));
  const address = NetworkSettings.Networks[NETWORK]!.IPAddress;
  return (await docker('logs', '--since', since, SILENT)).split(`from ${address};`).length - 1;
};

const startOne = async (name: string): Promise<void> => {
  const { command, env_file } = services[name]!;
  const variables = Object.assign(
    {},
    ...env_file!.map((file) => parseEnv(readFileSync(path.join(folder, 'deploy', file), 'utf8'))),
  ) as Record<string, string>;
  await docker(
    ...['run', '--detach', '--name', containerName(name), '--network', NETWORK],
    ...Object.entries(variables).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...['quittance:local', ...command!],
  );
};

/** Starts a program, ends it while it waits, and returns its exit code. */
const exitCodeOf = async (name: string): Promise<number> => {
  const since = new Date().toISOString();
  await startOne(name);
  await waitFor(
    () => connectionsOf(name, since),
    (count) => count > 0,
    WAIT_MS,
    200,
  );
  const startedAt = performance.now();
  await docker('stop', '--time', String(GRACE_SECONDS), containerName(name));
  console.info(`${name} ended ${((performance.now() - startedAt) / 1000).toFixed(1)} s after SIGTERM`);
  return (await inspect(containerName(name))).State.ExitCode;
};

test('every program that waits for its servers ends on SIGTERM with 143', async () => {
  const codes = new Map<string, number>();
  await eachOf(waiting, AT_A_TIME, async (name) => codes.set(name, await exitCodeOf(name)));
  expect(codes).toEqual(new Map(waiting.map((name) => [name, 143])));
});
