import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { startProxy, type TcpProxy } from '../../test/support/servers/proxy.ts';
import type { Logger } from '../lib/telemetry/logger.ts';
import { openPool, pingPool } from './pool.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let url: URL;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());
let serverPort: number;
beforeEach(async () => {
  url = new URL(database.url('settlement'));
  serverPort = Number(url.port);
  proxy = await startProxy(serverPort);
  url.port = `${proxy.port}`;
});
afterEach(() => proxy.stop());

/** Opens a pool, and mends what is broken after the first warning. @returns the warnings */
const warningsUntilOpen = async (mend: () => void): Promise<string[]> => {
  const warnings: string[] = [];
  const warn = (_: object, message: string) => {
    warnings.push(message);
    mend();
  };
  const pool = await openPool(url.href, { max: 1 }, { warn } as unknown as Logger);
  await pingPool(pool);
  await pool.end();
  return warnings;
};
const WARNING = 'Postgres does not answer yet, trying again';

test('a start waits while Postgres refuses connections', async () => {
  proxy.stop();
  let restarted = false;
  const warnings = await warningsUntilOpen(() => {
    if (restarted) return;
    restarted = true;
    void startProxy(serverPort, Number(url.port)).then((again) => {
      proxy = again;
    });
  });
  expect(warnings).toContain(WARNING);
});

test('a start waits while Postgres ends connections', async () => {
  proxy.greetOnly(true);
  expect(await warningsUntilOpen(() => proxy.greetOnly(false))).toContain(WARNING);
});

test('a start waits while Postgres accepts connections and does not answer', async () => {
  proxy.freeze(true);
  expect(await warningsUntilOpen(() => proxy.freeze(false))).toContain(WARNING);
});

test('a start fails at once with an error that waiting does not mend', async () => {
  url.password = 'wrong';
  await expect(warningsUntilOpen(() => {})).rejects.toThrow(/password authentication failed/);
  expect(proxy.accepted()).toBe(1);
});
