import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reasonOfNoAnswer, wasNeverSent } from './never-sent.ts';

/** A server that closes each connection when the first byte of a request has come. */
const server = createServer((socket) => socket.once('data', () => socket.destroy()));
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** A port at which nothing listens any more. */
let closedPort = 0;
beforeAll(async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  closedPort = (other.address() as { port: number }).port;
  await new Promise((resolve) => other.close(resolve));
});

const errorOf = (url: string, init?: RequestInit): Promise<unknown> =>
  fetch(url, init).then(
    () => null,
    (error: unknown) => error,
  );

test.each<[what: string, url: () => string, reason: string | null, neverSent: boolean]>([
  ['a name that does not exist', () => 'http://nothing.invalid/', null, true],
  ['a port where nothing listens', () => `http://127.0.0.1:${closedPort}/`, 'ECONNREFUSED', true],
  ['a name with two addresses where nothing listens', () => `http://localhost:${closedPort}/`, null, true],
  ['a port that fetch never calls', () => 'http://127.0.0.1:1/', null, true],
  [
    'a server that closes the connection after the request',
    () => `http://127.0.0.1:${port}/`,
    'UND_ERR_SOCKET',
    false,
  ],
])('%s', async (_, url, reason, neverSent) => {
  const error = await errorOf(url(), { method: 'POST', body: '{}' });
  expect(wasNeverSent(error)).toBe(neverSent);
  if (reason !== null) expect(reasonOfNoAnswer(error)).toBe(reason);
});

test('what is not known counts as sent', async () => {
  const aborted = await errorOf(`http://127.0.0.1:${port}/`, { signal: AbortSignal.abort() });
  const mixed = new AggregateError([{ code: 'ECONNREFUSED' }, { code: 'ECONNRESET' }]);
  for (const error of [aborted, new TypeError('fetch failed'), null, 'x', new Error('x', { cause: mixed })])
    expect(wasNeverSent(error)).toBe(false);
});
