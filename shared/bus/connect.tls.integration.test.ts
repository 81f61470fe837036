import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { findBinary } from '../../deploy/local/servers/binaries.mjs';
import { natsConf } from '../../deploy/local/servers/nats-conf.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { answers } from '../../deploy/local/servers/server-process.ts';
import { waitUntil } from '../../test/support/base/wait.ts';
import { certificateFiles } from '../../test/support/servers/tls.ts';
import { identity } from '../contract/index.ts';
import type { Handlers } from '../contract/service.ts';
import { newId } from '../lib/id.ts';
import { call } from './call.ts';
import { connectBus, drainBus } from './connect.ts';
import { newNkeySeed } from './nkey.ts';
import { serve } from './serve.ts';
import { ensureStreams } from './setup.ts';

let files: Awaited<ReturnType<typeof certificateFiles>>;
const ports = { tls: 0, plain: 0 };
const servers: ChildProcess[] = [];

beforeAll(async () => {
  files = await certificateFiles();
  const picker = createPortPicker();
  for (const kind of ['tls', 'plain'] as const) {
    const port = await picker.any();
    const folder = path.join(files.folder, kind);
    mkdirSync(folder);
    const tls = kind === 'tls' ? files.own : undefined;
    const conf = path.join(folder, 'nats.conf');
    writeFileSync(conf, natsConf({ host: '127.0.0.1', port, storeDir: folder, accounts: [], tls }));
    servers.push(spawn(findBinary('nats-server')!, ['-c', conf], { stdio: 'ignore' }));
    ports[kind] = port;
  }
  for (const port of Object.values(ports))
    await waitUntil(() => answers(port, '', 'INFO'), { withinMs: 60_000, everyMs: 50 });
});
afterAll(async () => {
  for (const server of servers) {
    server.kill('SIGKILL');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  }
  files.remove();
});

const at = (kind: keyof typeof ports, scheme = 'tls') => `${scheme}://localhost:${ports[kind]}`;

test('calls go over a connection whose server the authority of the file has signed', async () => {
  await ensureStreams({ servers: at('tls'), seed: newNkeySeed(), caFile: files.own.certFile });
  const connect = (user: 'identity' | 'settlement') =>
    connectBus({
      url: at('tls'),
      user,
      seed: newNkeySeed(),
      caFile: files.own.certFile,
      logger: pino({ level: 'silent' }),
    });
  const [responder, caller] = [await connect('identity'), await connect('settlement')];
  const handlers = { isFrozen: async () => ({ frozen: false }) };
  const serving = serve(responder, identity, handlers as unknown as Handlers<typeof identity>);
  await responder.nc.flush();
  expect(caller.nc.info?.tls_required).toBe(true);
  expect(await call(caller, identity, 'isFrozen', { account_id: newId('acct') })).toEqual({ frozen: false });
  await serving.stop();
  await Promise.all([responder, caller].map(drainBus));
});

test.each([
  [
    'a server whose certificate another authority has signed',
    () => ({ servers: at('tls'), caFile: files.other.certFile }),
    /certificate/,
  ],
  ['a server of an authority that Node does not know', () => ({ servers: at('tls') }), /certificate/],
  [
    'a server that offers no TLS, or whose offer was removed',
    () => ({ servers: at('plain'), caFile: files.own.certFile }),
    /tls/,
  ],
] as const)('%s gets no login', async (_what, options, reason) => {
  await expect(ensureStreams({ seed: newNkeySeed(), ...options() })).rejects.toThrow(reason);
});
