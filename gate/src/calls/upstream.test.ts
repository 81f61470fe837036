import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { sendRaw, startGateHarness } from '../../../test/support/fixtures/gate.ts';
import type { Settings } from '../settings/settings.ts';

/** Connections to an upstream that are shared, before servers that keep no rule of HTTP. */
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const answerOf = (text: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/^[A-Z]+ (\S+) HTTP/gm)].map(([, path]) => path!);

/** A server on a bare socket. It gets each piece of text that arrives. */
const start = async (
  serve: (text: string, socket: Socket) => void,
  changed: Partial<Settings> = {},
): Promise<{ port: number; sockets: Socket[]; ask: (head: string, body?: string) => Promise<string> }> => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.setEncoding('latin1').on('data', (text) => serve(String(text), socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const harness = await startGateHarness(() => undefined, { ...changed, upstream });
  stops.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }, harness.stop);
  const ask = async (head: string, body = '') => {
    const lines = `${head}\r\nHost: x\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
    return (await sendRaw(harness.gate.port, `${lines}${body}`)).split('\r\n\r\n')[1]!;
  };
  return { port: harness.gate.port, sockets, ask };
};

describe('a body that the upstream leaves unread', () => {
  /**
   * It answers each request line, also one in a body. That of the body comes with the next one, as
   * from a slow handler.
   */
  const careless = () => {
    const held = new Map<Socket, string>();
    return (text: string, socket: Socket): void => {
      const before = held.get(socket) ?? '';
      held.delete(socket);
      for (const path of pathsIn(text)) {
        if (path === '/stolen') held.set(socket, answerOf('the answer for somebody else'));
        else socket.write(`${before}${answerOf(path)}`);
      }
    };
  };
  const HIDDEN = 'GET /stolen HTTP/1.1\r\nHost: x\r\n\r\n';

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'])(
    'of a %s is no request of the next caller',
    async (method) => {
      const { ask } = await start(careless());
      for (let times = 0; times < 3; times += 1) {
        expect(await ask(`${method} /free HTTP/1.1`, HIDDEN)).toBe('/free');
        expect(await ask('GET /other HTTP/1.1')).toBe('/other');
      }
    },
  );

  test('requests without one share a connection, and so do all if the upstream is known to read', async () => {
    const { ask, sockets } = await start(careless());
    for (const path of ['/a', '/b', '/c']) expect(await ask(`GET ${path} HTTP/1.1`)).toBe(path);
    expect(sockets).toHaveLength(1);
    expect(await ask('POST /d HTTP/1.1', 'body')).toBe('/d');
    expect(await ask('POST /e HTTP/1.1', '')).toBe('/e');
    expect(sockets).toHaveLength(2);
    const reading = await start(careless(), { readsBodies: true });
    for (const path of ['/a', '/b']) expect(await reading.ask(`POST ${path} HTTP/1.1`, 'body')).toBe(path);
    expect(reading.sockets).toHaveLength(1);
  });
});

test('an answer before the end of the body ends the connection, however the upstream reads', async () => {
  const { port, ask, sockets } = await start(
    (text, socket) => {
      for (const path of pathsIn(text)) socket.write(answerOf(path));
    },
    { readsBodies: true },
  );
  const caller = connect(port, '127.0.0.1');
  caller.write('POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nhalf of it');
  const [answer] = (await once(caller, 'data')) as [Buffer];
  expect(String(answer)).toContain('200 OK');
  await waitUntil(() => sockets[0]!.destroyed);
  caller.destroy();
  expect(await ask('GET /other HTTP/1.1')).toBe('/other');
  expect(sockets).toHaveLength(2);
});

test('bytes that nobody has asked for end the connection, and nobody gets them', async () => {
  const { ask, sockets } = await start((text, socket) => {
    for (const path of pathsIn(text)) socket.write(answerOf(path));
  });
  expect(await ask('GET /a HTTP/1.1')).toBe('/a');
  sockets[0]!.write(answerOf('of somebody else'));
  await waitUntil(() => sockets[0]!.destroyed);
  expect(await ask('GET /b HTTP/1.1')).toBe('/b');
  expect(sockets).toHaveLength(2);
});
