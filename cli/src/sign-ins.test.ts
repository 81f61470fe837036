import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { acquireLock, withLock } from './lock.ts';
import { configFolder, createSignIns } from './sign-ins.ts';

const URL = 'http://127.0.0.1:3402';
const held = {
  url: URL,
  environment: 'test' as const,
  account: { account_id: 'acct_1', email: 'ada@example.com' },
  access_token: 'a1',
  refresh_token: 'r1',
};
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'quittance-sign-ins-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the folder is that of XDG, unless it is relative', () => {
  expect(configFolder({ XDG_CONFIG_HOME: '/etc/x', HOME: '/home/ada' })).toBe('/etc/x/quittance');
  expect(configFolder({ XDG_CONFIG_HOME: 'x', HOME: '/home/ada' })).toBe('/home/ada/.config/quittance');
  expect(configFolder({ HOME: '/home/ada' })).toBe('/home/ada/.config/quittance');
});

test('each address and environment has a file of its own, which only its owner can read', async () => {
  const signIns = createSignIns(folder, URL, 'test');
  await signIns.save(held);
  await createSignIns(folder, URL, 'live').save({ ...held, environment: 'live', access_token: 'a2' });
  await createSignIns(folder, 'https://api.example.com', 'test').save({ ...held, access_token: 'a3' });
  const files = readdirSync(folder);
  expect(files).toHaveLength(3);
  for (const file of files) expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
  expect((await signIns.load())?.access_token).toBe('a1');
  await signIns.remove();
  expect(await signIns.load()).toBeNull();
  expect(readdirSync(folder)).toHaveLength(2);
});

test('a file that is no JSON counts as signed out', async () => {
  const signIns = createSignIns(folder, URL, 'test');
  await signIns.save(held);
  writeFileSync(path.join(folder, readdirSync(folder)[0]!), '{"url":');
  expect(await signIns.load()).toBeNull();
});

test('of concurrent exchanges of one refresh token one is sent, and the others get its result', async () => {
  const sent: string[] = [];
  const server = async (_url: string, { body }: RequestInit) => {
    sent.push(String(body));
    await new Promise((resolve) => setImmediate(resolve));
    return Response.json({ access_token: 'a2', refresh_token: 'r2' });
  };
  await createSignIns(folder, URL, 'test').save(held);
  const answers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const fetching = createSignIns(folder, URL, 'test').fetch(server);
      const response = await fetching(`${URL}/v1/auth/refresh`, { body: '{"refresh_token":"r1"}' });
      return response.json();
    }),
  );
  expect(sent).toEqual(['{"refresh_token":"r1"}']);
  for (const answer of answers) expect(answer).toEqual({ access_token: 'a2', refresh_token: 'r2' });
  expect(await createSignIns(folder, URL, 'test').load()).toEqual({
    ...held,
    access_token: 'a2',
    refresh_token: 'r2',
  });
  expect(readdirSync(folder)).toHaveLength(1);
});

test('a refused exchange changes nothing and releases the lock', async () => {
  const signIns = createSignIns(folder, URL, 'test');
  await signIns.save(held);
  const fetching = signIns.fetch(async () => new Response('{}', { status: 401 }));
  const response = await fetching(`${URL}/v1/auth/refresh`, { body: '{"refresh_token":"r1"}' });
  expect(response.status).toBe(401);
  expect(await signIns.load()).toEqual(held);
  expect(readdirSync(folder)).toHaveLength(1);
});

test('the lock of a process that is gone is removed', async () => {
  const file = path.join(folder, 'a.lock');
  const release = await acquireLock(file);
  await release();
  // No process has this id.
  writeFileSync(file, `${(await import('node:os')).hostname()}\n4194305\nx`);
  expect(await withLock(file, async () => 'done')).toBe('done');
  expect(readdirSync(folder)).toEqual([]);
});

test('a lock that is held ends the wait only when it is released or aborted', async () => {
  const file = path.join(folder, 'a.lock');
  const release = await acquireLock(file);
  const stopping = new AbortController();
  const waiting = acquireLock(file, stopping.signal);
  stopping.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
  const next = acquireLock(file);
  await release();
  await (await next)();
  expect(readdirSync(folder)).toEqual([]);
});
