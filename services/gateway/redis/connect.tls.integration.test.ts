import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { binary } from '../../../deploy/local/servers/server-process.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { certificateFiles } from '../../../test/support/servers/tls.ts';
import { connectRedis } from './connect.ts';

let files: Awaited<ReturnType<typeof certificateFiles>>;
let server: ChildProcess;
let url = '';

beforeAll(async () => {
  files = await certificateFiles();
  const port = await createPortPicker().any();
  url = `rediss://localhost:${port}`;
  const options = {
    port: 0,
    'tls-port': port,
    'tls-cert-file': files.own.certFile,
    'tls-key-file': files.own.keyFile,
    'tls-auth-clients': 'no',
    bind: '127.0.0.1',
    dir: files.folder,
    save: '',
  };
  const { command, env } = binary('redis-server');
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  server = spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } });
});
afterAll(async () => {
  server.kill('SIGKILL');
  if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  files.remove();
});

const connectWith = (caFile?: string) => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  return { redis: connectRedis(url, logger, caFile), lines };
};

test('the gateway talks to a Redis that the authority of the file has signed', async () => {
  const { redis } = connectWith(files.own.certFile);
  await waitUntil(() => redis.status === 'ready', { withinMs: 60_000, everyMs: 50 });
  await redis.set('a', '1');
  expect(await redis.get('a')).toBe('1');
  redis.disconnect();
});

test('a Redis of another authority gets no login', async () => {
  for (const caFile of [files.other.certFile, undefined]) {
    const { redis, lines } = connectWith(caFile);
    await waitUntil(() => lines.length > 0, { withinMs: 60_000, everyMs: 50 });
    expect(redis.status).not.toBe('ready');
    await expect(redis.get('a')).rejects.toThrow();
    expect(lines[0]).toMatch(/SELF_SIGNED|self-signed|certificate/);
    redis.disconnect();
  }
});

test('a connection that is closed while its certificate is refused does not end the process', async () => {
  for (let moment = 0; moment < 300; moment += 1) {
    const { redis } = connectWith(moment % 2 === 0 ? files.other.certFile : undefined);
    // Closed at each moment of the handshake: the server answers with an alert in some of them.
    const until = performance.now() + (moment % 15);
    do await new Promise(setImmediate);
    while (performance.now() < until);
    redis.disconnect();
  }
});
