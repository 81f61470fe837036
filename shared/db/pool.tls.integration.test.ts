import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { postgresServer } from '../../deploy/local/servers/postgres-server.ts';
import { waitUntil } from '../../test/support/base/wait.ts';
import { certificateFiles } from '../../test/support/servers/tls.ts';
import { databaseUrlWithTls } from '../lib/transport.ts';
import { connectPool, sql } from './pool.ts';

let files: Awaited<ReturnType<typeof certificateFiles>>;
let stop = async () => {};
let serverUrl = '';

beforeAll(async () => {
  files = await certificateFiles();
  const port = await createPortPicker().any();
  const { spec, url } = await postgresServer({ stateDir: files.folder, port, durable: false });
  serverUrl = url.replace('127.0.0.1', 'localhost');
  const { uid, gid } = spec as { uid?: number; gid?: number };
  chmodSync(files.folder, 0o755);
  if (uid !== undefined && gid !== undefined)
    for (const file of [files.own.keyFile, files.own.certFile]) chownSync(file, uid, gid);
  await spec.prepare?.();
  const settings = { ssl: 'on', ssl_cert_file: files.own.certFile, ssl_key_file: files.own.keyFile };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(spec.command, [...spec.args, ...args], {
    stdio: 'ignore',
    ...(spec.cwd && { cwd: spec.cwd }),
    ...(uid !== undefined && gid !== undefined && { uid, gid }),
  });
  stop = async () => {
    server.kill('SIGINT');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  };
  await waitUntil(async () => (await spec.ready?.()) === true, { withinMs: 90_000, everyMs: 100 });
});
afterAll(async () => {
  await stop();
  files.remove();
});

const Encrypted = z.object({ ssl: z.boolean() });
const isEncrypted = async (url: string): Promise<boolean> => {
  const pool = await connectPool(url, { max: 1 });
  try {
    return (await pool.one(sql.type(Encrypted)`select ssl from pg_stat_ssl where pid = pg_backend_pid()`))
      .ssl;
  } finally {
    await pool.end();
  }
};
const withCa = (url: string, caFile: string) =>
  `${url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(caFile)}`;

test('a pool with sslmode=verify-full is encrypted, and one without it is not', async () => {
  expect(await isEncrypted(withCa(serverUrl, files.own.certFile))).toBe(true);
  expect(await isEncrypted(serverUrl)).toBe(false);
});

test('a server that the authority of the file has not signed, or without TLS, gets no login', async () => {
  await expect(isEncrypted(withCa(serverUrl, files.other.certFile))).rejects.toThrow();
  await expect(isEncrypted(`${serverUrl}?sslmode=verify-full`)).rejects.toThrow();
  await expect(isEncrypted(withCa(process.env.POSTGRES_URL!, files.own.certFile))).rejects.toThrow();
});

test('a job verifies the server by the authority of TLS_CA_FILE, although its URL has no parameters of TLS', async () => {
  const encrypted = async (caFile: string) => {
    const client = new pg.Client({ connectionString: databaseUrlWithTls(serverUrl, caFile) });
    await client.connect();
    try {
      const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      return rows[0].ssl;
    } finally {
      await client.end();
    }
  };
  expect(await encrypted(files.own.certFile)).toBe(true);
  await expect(encrypted(files.other.certFile)).rejects.toThrow(/certificate/);
});
