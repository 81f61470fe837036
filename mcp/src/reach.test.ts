import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { createReach, isPublic, UnreachableError } from './reach.ts';

test.each([
  ['8.8.8.8', true],
  ['2606:4700::1111', true],
  ['127.0.0.1', false],
  ['0.0.0.0', false],
  ['10.1.2.3', false],
  ['172.16.0.1', false],
  ['192.168.1.1', false],
  ['169.254.169.254', false],
  ['168.63.129.16', false],
  ['::ffff:168.63.129.16', false],
  ['168.63.129.17', true],
  ['100.64.0.1', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::1', false],
  ['::', false],
  ['fe80::1', false],
  ['fd00::1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:8.8.8.8', true],
  ['64:ff9b::7f00:1', false],
  ['2002:7f00:1::', false],
  ['2001:db8::1', false],
  ['no address', false],
])('%s is public: %s', (address, expected) => {
  expect(isPublic(address)).toBe(expected);
});

const listening = async (handle: RequestListener): Promise<{ origin: string; stop: () => void }> => {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, stop: () => server.close() };
};

test('a listed host and port is reachable, other ones and redirects to them are not', async () => {
  const listed = await listening((_request, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
  });
  const other = await listening((_request, response) => response.end());
  const reach = [new URL(listed.origin).host];
  const { fetch, close } = createReach({ baseUrl: 'https://api.example.com', reach });
  try {
    expect((await fetch(listed.origin, { redirect: 'manual' })).status).toBe(302);
    await expect(fetch(listed.origin, {})).rejects.toBeInstanceOf(UnreachableError);
    await expect(fetch(other.origin, {})).rejects.toBeInstanceOf(UnreachableError);
    const all = createReach({ baseUrl: 'https://api.example.com', reach: 'private' });
    expect((await all.fetch(other.origin, {})).status).toBe(200);
    await all.close();
  } finally {
    await close();
    listed.stop();
    other.stop();
  }
});

test('an API on loopback opens its own port only, and no redirect of it leads further', async () => {
  let isCalled = false;
  const other = await listening((_request, response) => {
    isCalled = true;
    response.end();
  });
  const api = await listening((_request, response) => {
    response.writeHead(302, { location: other.origin }).end();
  });
  const { fetch, close } = createReach({ baseUrl: api.origin, reach: 'public' });
  try {
    const answer = await fetch(`${api.origin}/docs`, {});
    expect(answer.status).toBe(302);
    await expect(fetch(other.origin, {})).rejects.toBeInstanceOf(UnreachableError);
    const named = api.origin.replace('127.0.0.1', 'localhost');
    await expect(fetch(named, {})).rejects.toBeInstanceOf(UnreachableError);
    expect(isCalled).toBe(false);
  } finally {
    await close();
    api.stop();
    other.stop();
  }
});

test.each([
  'http://127.0.0.1:8999',
  'http://2130706433:8999',
  'http://0x7f.1:8999',
  'http://[::1]:8999',
  'http://localhost:8999',
])('%s is refused before a connection', async (url) => {
  const { fetch, close } = createReach({ baseUrl: 'https://api.example.com', reach: 'public' });
  await expect(fetch(url, {})).rejects.toBeInstanceOf(UnreachableError);
  await close();
});
