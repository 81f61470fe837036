import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { listensOn } from './listening.ts';

const isLinux = process.platform === 'linux';

test('a process listens on its own port, and on no port of another one', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(listensOn(process.pid, port)).toBe(true);
  expect(listensOn(process.ppid, port)).toBe(!isLinux);
  server.close();
  await once(server, 'close');
  expect(listensOn(process.pid, port)).toBe(!isLinux);
});

test('a process that is gone cannot be asked', () => {
  expect(listensOn(2 ** 30, 1)).toBe(true);
});
