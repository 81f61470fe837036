import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  ask,
  type GateHarness,
  sendRaw,
  startGateHarness,
  textOf,
} from '../../../test/support/fixtures/gate.ts';
import { PUBLIC_URL } from '../../../test/support/stand-ins/vendor-api.ts';
import { Route, routeSettingsOf } from '../settings/route-settings.ts';

let harness: GateHarness;
const start = async (
  serve: Parameters<typeof startGateHarness>[0] = (_request, response) => void response.end(),
) => {
  harness = await startGateHarness(serve);
  return harness;
};
afterEach(() => harness.stop());

/** A server of WebSockets that returns what it gets. */
const echo = (server: import('node:http').Server) => {
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  );
  return sockets;
};
/** What comes back, or the status of the refusal. */
const talk = (
  url: string,
  headers: Record<string, string>,
  message: string | Buffer,
): Promise<string | number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws'), { headers });
    socket.on('open', () => socket.send(message));
    socket.on('message', (data) => {
      socket.close();
      resolve(String(data));
    });
    socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode!));
    socket.on('error', reject);
  });

test('a free connection is upgraded, with large messages, and ends on both sides', async () => {
  const { url, upstream, lines } = await start();
  const sockets = echo(upstream.server);
  const long = 'x'.repeat(1_000_000);
  expect(await talk(`${url}/free`, {}, long)).toBe(long);
  await waitUntil(() => sockets.clients.size === 0 && lines.some(({ message }) => message === 'call'));
  expect(lines.filter(({ message }) => message === 'call')).toMatchObject([{ status: 101, outcome: 'free' }]);
});

test('a priced connection is paid once, and the upstream is told of the payment', async () => {
  const { url, upstream, pay } = await start();
  const sockets = echo(upstream.server);
  const named: unknown[] = [];
  sockets.on('connection', (_socket, { headers }) => named.push(headers['quittance-settlement']));
  expect(await talk(`${url}/ws`, {}, 'a')).toBe(402);
  const headers = pay('/ws');
  expect(await talk(`${url}/ws`, headers, 'a')).toBe('a');
  expect(await talk(`${url}/ws`, headers, 'a')).toBe(402);
  expect(named).toEqual([headers['x-settlement-id']]);
});

test('a request to a server that does not upgrade is answered and paid as any other', async () => {
  let runs = 0;
  const { url, upstream, pay } = await start((_request, response) => {
    runs += 1;
    response.writeHead(426).end('no');
  });
  const headers = pay('/ws');
  expect(await talk(`${url}/ws`, headers, 'a')).toBe(426);
  echo(upstream.server);
  // The stored answer: 426 is an answer like 404.
  expect(await talk(`${url}/ws`, headers, 'a')).toBe(426);
  expect(runs).toBe(1);
});

test('an upstream that fails or breaks costs nothing', async () => {
  const { url, upstream, pay } = await start((_request, response) => void response.writeHead(503).end('no'));
  const headers = pay('/ws');
  expect(await talk(`${url}/ws`, headers, 'a')).toBe(503);
  const breaking = (_request: unknown, socket: import('node:stream').Duplex) => void socket.destroy();
  upstream.server.once('upgrade', breaking);
  expect(await talk(`${url}/ws`, headers, 'a')).toBe(502);
  echo(upstream.server);
  expect(await talk(`${url}/ws`, headers, 'a')).toBe('a');
});

/** The headers of a WebSocket, and of an upgrade to something else. */
const HANDSHAKE = [
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
  ['Sec-WebSocket-Version', '13'],
];
const UPGRADES: [string, string[][]][] = [
  ['a handshake', HANDSHAKE],
  ['an unknown upgrade', [['Upgrade', 'x']]],
  ['a handshake without a key', HANDSHAKE.filter(([name]) => name !== 'Sec-WebSocket-Key')],
];
const linesOf = (headers: readonly (readonly string[])[]): string =>
  headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');

describe.each(UPGRADES)('%s that is answered with 200', (_, upgrade) => {
  const ROUTES = [
    { match: 'GET /fixed', price: '$0.05' },
    { match: 'GET /render', max: '$0.50', price_header: 'X-Cost' },
    { match: 'GET /tab', max: '$0.50', price_header: 'X-Cost', tab: 'true', per_call: '$0.05' },
    { match: 'GET /units', price: '$0.05', prepaid: { units: '2' } },
    { match: 'GET /trial', price: '$0.05', free: { calls: '2', per: 'day' } },
  ];
  let runs = 0;
  const begin = async () => {
    runs = 0;
    harness = await startGateHarness(
      (_request, response) => {
        runs += 1;
        response.writeHead(200, { 'x-cost': '0.04 USDC' }).end(`answer ${runs}`);
      },
      { routes: ROUTES.map((route) => routeSettingsOf(Route.parse(route))) },
    );
  };
  /** The status and the body. */
  const get = async (path: string, payment: Record<string, string> = {}, id = 'one-request-id') => {
    const head = linesOf([
      ['Host', 'a'],
      ['Connection', 'Upgrade, close'],
      ...upgrade,
      ['X-Payment-Request-Id', id],
      ...Object.entries(payment),
    ]);
    const said = await sendRaw(harness.gate.port, `GET ${path} HTTP/1.1\r\n${head}\r\n`);
    return `${said.slice(9, 12)} ${/answer \d+/.exec(said)?.[0] ?? ''}`.trim();
  };
  const authorize = (path: string, more: { tab?: true } = {}) =>
    harness.api.authorize({ resource: `${PUBLIC_URL}${path}`, ...more }, 500_000n);

  test('is the delivery of a payment, and stored for a repeat', async () => {
    await begin();
    const payment = harness.pay('/fixed');
    expect(await get('/fixed', payment)).toBe('200 answer 1');
    expect(await get('/fixed', payment)).toBe('200 answer 1');
    expect(await get('/fixed', payment, 'another-request')).toBe('402');
    const units = harness.api.pay({ resource: `${PUBLIC_URL}/units`, units: 2 });
    for (const id of ['unit-a', 'unit-b', 'unit-b']) expect(await get('/units', units, id)).toMatch(/^200/);
    expect([await get('/units', units, 'unit-c'), runs]).toEqual(['402', 3]);
    const { port } = harness.gate;
    const plain = `GET /fixed HTTP/1.1\r\n${linesOf([
      ['Host', 'a'],
      ['Connection', 'close'],
      ['X-Payment-Request-Id', 'one-request-id'],
      ...Object.entries(payment),
    ])}\r\n`;
    expect(await sendRaw(port, plain)).toContain('answer 1');
  });

  test('costs what it says on a metered route', async () => {
    await begin();
    const [one, tab] = [authorize('/render'), authorize('/tab', { tab: true })];
    expect(await get('/render', one.headers)).toBe('200 answer 1');
    for (const id of ['call-1', 'call-2']) expect(await get('/tab', tab.headers, id)).toMatch(/^200/);
    await waitUntil(() => one.held.status === 'captured');
    await harness.gate.stop();
    expect([one.held.used, tab.held.used]).toEqual([40_000n, 80_000n]);
  });

  test('is a free call that counts', async () => {
    await begin();
    const answers = [await get('/trial'), await get('/trial'), await get('/trial')];
    expect(answers).toEqual(['200 answer 1', '200 answer 2', '402']);
  });
});

test('no upgrade but a WebSocket reaches the upstream', async () => {
  const { gate, upstream, url } = await start((_request, response) => response.end('ok'));
  upstream.server.on('upgrade', (_request, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
  );
  const h2c = linesOf([
    ['Host', 'a'],
    ['Connection', 'Upgrade, HTTP2-Settings, close'],
    ['Upgrade', 'h2c'],
    ['HTTP2-Settings', 'AAMAAABkAAQAoAAAAAIAAAAA'],
  ]);
  for (const method of ['OPTIONS', 'GET'])
    expect(await sendRaw(gate.port, `${method} /free HTTP/1.1\r\n${h2c}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  const post = linesOf([
    ['Host', 'a'],
    ['Connection', 'Upgrade, close'],
    ...HANDSHAKE,
    ['Content-Length', '0'],
  ]);
  expect(await sendRaw(gate.port, `POST /free HTTP/1.1\r\n${post}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  const names = upstream.seen.flatMap(({ headers }) => Object.keys(headers));
  expect(names.filter((name) => name === 'upgrade' || name === 'http2-settings')).toEqual([]);
  const asked = Promise.withResolvers<unknown>();
  upstream.server.once('upgrade', ({ headers: { connection, upgrade } }) =>
    asked.resolve([connection, upgrade]),
  );
  void talk(`${url}/free`, {}, 'a').catch(() => undefined);
  expect(await asked.promise).toEqual(['Upgrade', 'websocket']);
});

test('requests to upgrade share a connection with others, with their bodies and in their order', async () => {
  const { gate } = await start(async (request, response) => {
    const body = await textOf(request);
    response.end(`<${request.method} ${request.url} ${body}>`);
  });
  const upgrade = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n';
  const socket = connect(gate.port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk) => {
    said += String(chunk);
  });
  socket.write(
    `GET /1 HTTP/1.1\r\n${upgrade}\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n` +
      `POST /3 HTTP/1.1\r\n${upgrade}Content-Length: 5\r\n\r\nhelloGET /4 HTTP/1.1\r\n${upgrade}\r\n` +
      `POST /5 HTTP/1.1\r\n${upgrade}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`,
  );
  await waitUntil(() => said.includes('<GET /4 >'));
  socket.write(`2\r\nde\r\n0\r\n\r\n`);
  await waitUntil(() => said.includes('<POST /5 abcde>'));
  // A handshake on the same connection is one, too.
  socket.write(`GET /6 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\n${linesOf(HANDSHAKE)}\r\n`);
  await waitUntil(() => said.includes('<GET /6 >'));
  expect(said.match(/<[^>]*>/g)).toEqual([
    ...['<GET /1 >', '<GET /2 >', '<POST /3 hello>', '<GET /4 >', '<POST /5 abcde>', '<GET /6 >'],
  ]);
});

test('an upload that waits for 100 Continue gets it, also with an upgrade', async () => {
  const { url } = await start(async (request, response) => response.end(await textOf(request)));
  const headers = { connection: 'upgrade', upgrade: 'x', expect: '100-continue', 'content-length': 4 };
  const { text } = await ask(url, { method: 'POST', headers }, (request) => {
    request.once('continue', () => request.end('body'));
    request.flushHeaders();
  });
  expect(text).toBe('body');
});

test('a proxy that asks about an upgrade gets its decision', async () => {
  harness = await startGateHarness(() => undefined, { upstream: null });
  const question = linesOf([
    ...[['Host', 'a'], ['Connection', 'Upgrade, close'], ...HANDSHAKE],
    ...[
      ['X-Forwarded-Method', 'GET'],
      ['X-Forwarded-Uri', '/ws'],
    ],
  ]);
  expect(await sendRaw(harness.gate.port, `GET /authorize HTTP/1.1\r\n${question}\r\n`)).toMatch(
    /^HTTP\/1\.1 402 /,
  );
});
