import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import { findBinary, unpackedDir } from './binaries.mjs';
import { type NatsAccount, natsConf } from './nats-conf.ts';
import type { ProcessSpec } from './supervisor.ts';

const host = '127.0.0.1';

/**
 * nats-server with JetStream in `<stateDir>/nats`, its configuration written anew at every start.
 * @throws when the binary is nowhere, naming the package.
 */
export function natsServer(options: {
  stateDir: string;
  port: number;
  accounts: readonly NatsAccount[];
  afterReady?: () => Promise<void>;
}): ProcessSpec {
  const { stateDir, port, accounts, afterReady } = options;
  const folder = path.join(stateDir, 'nats');
  const file = path.join(folder, 'nats.conf');
  return {
    name: 'nats-server',
    kind: 'server',
    ...binary('nats-server'),
    args: ['-c', file],
    prepare: () => {
      mkdirSync(folder, { recursive: true });
      const text = natsConf({ host, port, storeDir: folder, accounts });
      writeFileSync(file, text, { mode: 0o600 });
    },
    ready: () => answers(port, '', 'INFO'),
    ...(afterReady ? { afterReady } : {}),
  };
}

/** redis-server without persistence: it holds the windows of the rate limits, nothing that must last. */
export function redisServer({ stateDir, port }: { stateDir: string; port: number }): ProcessSpec {
  const folder = path.join(stateDir, 'redis');
  const options = { port, bind: host, dir: folder, save: '', appendonly: 'no' };
  return {
    name: 'redis-server',
    kind: 'server',
    ...binary('redis-server'),
    args: Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    prepare: () => void mkdirSync(folder, { recursive: true }),
    ready: () => answers(port, 'PING\r\n', '+PONG'),
  };
}

/** A server unpacked without the right to install it brings its libraries along. */
function binary(name: string): { command: string; env?: Record<string, string> } {
  const command = findBinary(name);
  if (!command) throw new Error(`${name} was not found: run \`npm start\` or install the package ${name}`);
  if (!command.startsWith(unpackedDir)) return { command };
  const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const folders = [`usr/lib/${triplet}`, `lib/${triplet}`].map((folder) => path.join(unpackedDir, folder));
  return { command, env: { LD_LIBRARY_PATH: folders.filter(existsSync).join(':') } };
}

/** Whether who listens on this port greets or answers like the server we mean. */
function answers(port: number, question: string, beginning: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    const done = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => done(false));
    socket.once('error', () => done(false));
    socket.once('connect', () => question && socket.write(question));
    socket.once('data', (data) => done(data.toString('latin1').startsWith(beginning)));
  });
}
