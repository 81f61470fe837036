import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { findBinary } from '../../deploy/local/servers/binaries.mjs';
import { natsConf } from '../../deploy/local/servers/nats-conf.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { answers } from '../../deploy/local/servers/server-process.ts';
import { waitUntil } from '../../test/support/base/wait.ts';
import { identity } from '../contract/index.ts';
import type { Handlers } from '../contract/service.ts';
import { newId } from '../lib/id.ts';
import { call } from './call.ts';
import { type Bus, connectBus, drainBus } from './connect.ts';
import { newNkeySeed, nkeyOf } from './nkey.ts';
import { serve } from './serve.ts';
import { natsRights } from './topology.ts';

/** A server whose users change while it runs (docs/operations.md, Keys of the bus). */
const seeds = { settlement: newNkeySeed(), old: newNkeySeed(), next: newNkeySeed() };
let folder = '';
let port = 0;
let server: ChildProcess;

/** Writes the configuration with these keys of identity. A running server reads it again. */
const configure = (...ofIdentity: string[]): void => {
  const rights = natsRights();
  const users = [
    { nkeys: [nkeyOf(seeds.settlement)], rights: rights.settlement },
    { nkeys: ofIdentity.map(nkeyOf), rights: rights.identity },
  ];
  const accounts = [{ name: 'TEST', users }];
  writeFileSync(
    path.join(folder, 'nats.conf'),
    natsConf({ host: '127.0.0.1', port, storeDir: folder, accounts }),
  );
  server?.kill('SIGHUP');
};

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'nkey-'));
  port = await createPortPicker().any();
  configure(seeds.old);
  server = spawn(findBinary('nats-server')!, ['-c', path.join(folder, 'nats.conf')], { stdio: 'ignore' });
  await waitUntil(() => answers(port, '', 'INFO'), { withinMs: 60_000, everyMs: 50 });
});
afterAll(async () => {
  server.kill('SIGKILL');
  if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

const logger = pino({ level: 'silent' });
const connectAs = (user: 'identity' | 'settlement', seed: string): Promise<Bus> =>
  connectBus({ url: `nats://127.0.0.1:${port}`, user, seed, logger });
const isAccepted = (seed: string): Promise<boolean> =>
  connectAs('identity', seed).then(
    async (bus) => {
      await bus.nc.close();
      return true;
    },
    (error: Error) => {
      if (/Authorization/.test(error.message)) return false;
      throw error;
    },
  );

/** A replica of identity. `stop` ends it as a rollout does. */
const startReplica = async (seed: string) => {
  const bus = await connectAs('identity', seed);
  const handlers = { isFrozen: async () => ({ frozen: false }) };
  const serving = serve(bus, identity, handlers as unknown as Handlers<typeof identity>);
  await bus.nc.flush();
  return {
    stop: async () => {
      await serving.stop();
      await drainBus(bus);
    },
  };
};

test('a key is replaced without a lost call: the server knows both, the replicas change, the old one is refused', async () => {
  const caller = await connectAs('settlement', seeds.settlement);
  const old = await startReplica(seeds.old);
  const outcomes: string[] = [];
  const load = { over: false };
  const calling = (async () => {
    while (!load.over)
      outcomes.push(
        await call(caller, identity, 'isFrozen', { account_id: newId('acct') }).then(
          () => 'answered',
          (error: Error) => `lost: ${error.message}`,
        ),
      );
  })();
  const someCalls = () => {
    const before = outcomes.length;
    return waitUntil(() => outcomes.length >= before + 100, { withinMs: 30_000, everyMs: 5 });
  };
  const until = (good: () => Promise<boolean>) => waitUntil(good, { withinMs: 30_000, everyMs: 20 });

  await someCalls();
  configure(seeds.old, seeds.next);
  await until(() => isAccepted(seeds.next));
  await someCalls();
  const next = await startReplica(seeds.next);
  await old.stop();
  await someCalls();
  configure(seeds.next);
  await until(async () => !(await isAccepted(seeds.old)));
  await someCalls();

  load.over = true;
  await calling;
  expect(new Set(outcomes)).toEqual(new Set(['answered']));
  await next.stop();
  await drainBus(caller);
});
