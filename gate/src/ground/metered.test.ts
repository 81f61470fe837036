import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { ask, type GateHarness, startGateHarness } from '../../../test/support/fixtures/gate.ts';
import { createImpatient, readWithPause } from '../../../test/support/stand-ins/stalls.ts';
import { PUBLIC_URL } from '../../../test/support/stand-ins/vendor-api.ts';
import { Route, routeSettingsOf } from '../settings/route-settings.ts';
import type { Settings } from '../settings/settings.ts';

/** Metered routes before an unchanged upstream: what is captured, and what costs nothing. */
let harness: GateHarness;
afterEach(() => harness.stop());

const ROUTES = [
  { match: 'GET /render', max: '$0.50', price_header: 'X-Cost' },
  { match: 'GET /chat', max: '$0.50', unit_price: '$0.0001', units_header: 'X-Tokens' },
  { match: 'GET /based', max: '$0.50', price: '0.01', unit_price: '$0.0001', units_header: 'X-Tokens' },
  { match: 'GET /fixed', max: '$0.50', price: '$0.02' },
  { match: 'GET /search', max: '$0.50', price: '$0.0005', tab: 'true' },
  {
    match: 'GET /tab',
    max: '$0.50',
    unit_price: '$0.0001',
    units_header: 'X-Tokens',
    tab: 'true',
    per_call: '$0.05',
  },
];
const start = async (serve: RequestListener, changed: Partial<Settings> = {}) => {
  const routes = ROUTES.map((route) => routeSettingsOf(Route.parse(route)));
  harness = await startGateHarness(serve, { routes, ...changed });
  return harness;
};
const open = (path: string) => {
  const isTab = ROUTES.some(({ match, tab }) => match === `GET ${path}` && tab === 'true');
  const resource = `${PUBLIC_URL}${path}`;
  return harness.api.authorize({ resource, ...(isTab && { tab: true }) }, 500_000n);
};
const get = async (path: string, headers: Record<string, string>, id = 'one-request-id') => {
  const response = await fetch(`${harness.url}${path}`, {
    headers: { ...headers, 'x-payment-request-id': id },
  });
  const { status } = response;
  return { status, usage: response.headers.get('quittance-usage'), text: await response.text() };
};
const calls = () => harness.lines.filter(({ message }) => message === 'call');
const errors = () =>
  harness.lines.filter(({ level }) => level === 'error').map((line) => JSON.stringify(line));

/** Reads the beginning of an answer, and returns the connection. */
const begin = async (path: string, headers: Record<string, string>, until: string) => {
  const socket = connect(harness.gate.port, '127.0.0.1');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n${lines.join('')}\r\n`);
  let said = '';
  socket.on('data', (data) => {
    said += String(data);
  });
  await waitUntil(() => said.includes(until));
  return { socket, said: () => said };
};

describe('the price of an answer', () => {
  test('is in its header, and only that is captured', async () => {
    await start((_request, response) => response.writeHead(200, { 'x-cost': '0.05 USDC' }).end('picture'));
    const asked = await fetch(`${harness.url}/render`);
    expect([asked.status, await asked.json()]).toMatchObject([402, { max_amount: '500000' }]);
    const { headers, held } = open('/render');
    const answer = { status: 200, usage: 'charged=50000', text: 'picture' };
    expect(await get('/render', headers)).toEqual(answer);
    await waitUntil(() => held.status === 'captured');
    expect(await get('/render', headers)).toEqual(answer);
    expect([held.used, harness.upstream.seen.length]).toEqual([50_000n, 1]);
    await waitUntil(() => calls().length === 3);
    expect(calls()[1]).toMatchObject({ outcome: 'paid', amount: '50000' });
    expect(harness.upstream.seen[0]!.headers['quittance-amount']).toBe('500000');
  });

  test.each([
    ['units of a header', '/chat', 32_000n, (units: string) => ({ 'x-tokens': units }), {}],
    ['units of a trailer', '/chat', 32_000n, () => ({ trailer: 'x-tokens' }), { 'x-tokens': '320' }],
    ['units besides a fixed part', '/based', 42_000n, (units: string) => ({ 'x-tokens': units }), {}],
  ] as const)('counts %s', async (_, path, used, head, trailers) => {
    await start((_request, response) => {
      response.writeHead(200, head('320'));
      response.write('a');
      response.addTrailers(trailers);
      response.end('b');
    });
    const { headers, held } = open(path);
    expect((await get(path, headers)).text).toBe('ab');
    await waitUntil(() => held.status === 'captured');
    expect(held.used).toBe(used);
  });

  test.each([
    ['no header', {}, 'has no header x-tokens'],
    ['a fraction', { 'x-tokens': '1.5' }, 'is no number of units'],
    ['a negative number', { 'x-tokens': '-5' }, 'is no number of units'],
    ['two headers', { 'x-tokens': ['1', '2'] }, 'is no number of units'],
  ])('%s costs nothing, and is an error in the log', async (_, head, fault) => {
    await start((_request, response) => response.writeHead(200, head).end('ok'));
    const { headers, held } = open('/chat');
    expect(await get('/chat', headers)).toMatchObject({ status: 200, usage: 'charged=0' });
    await waitUntil(() => held.status === 'voided');
    expect(errors().join()).toContain(fault);
  });

  test('is at most the ceiling', async () => {
    await start((_request, response) => response.writeHead(200, { 'x-tokens': '999999999999999' }).end('ok'));
    const { headers, held } = open('/chat');
    expect((await get('/chat', headers)).usage).toBe('charged=500000');
    await waitUntil(() => held.status === 'captured');
    expect(held.used).toBe(500_000n);
  });

  test('a client cannot name it', async () => {
    await start((request, response) =>
      response.writeHead(200, { 'x-tokens': '320' }).end(String(request.headers['quittance-amount'])),
    );
    const { headers, held } = open('/chat');
    const spoofed = { ...headers, 'x-tokens': '0', 'quittance-amount': '1' };
    expect((await get('/chat', spoofed)).text).toBe('500000');
    await waitUntil(() => held.status === 'captured');
    expect(held.used).toBe(32_000n);
  });
});

describe('a failure of the upstream costs nothing', () => {
  test.each([
    ['answers 500', (response) => response.writeHead(500, { 'x-tokens': '320' }).end('no')],
    ['answers 429', (response) => response.writeHead(429, { 'x-tokens': '320' }).end('no')],
    ['closes the connection', (response) => response.destroy()],
  ] as [string, (response: Parameters<RequestListener>[1]) => void][])('%s', async (_, fail) => {
    await start((_request, response) => fail(response));
    const { headers, held } = open('/chat');
    expect((await get('/chat', headers)).status).toBeGreaterThan(428);
    await waitUntil(() => held.status === 'voided');
    expect(held.used).toBe(0n);
  });

  test.each(['/chat', '/fixed', '/search', '/tab'])('an answer of %s that breaks off', async (path) => {
    await start((_request, response) => {
      response.writeHead(200, { 'x-tokens': '320' });
      response.write('half', () => setTimeout(() => response.destroy(), 20));
    });
    const { headers, held } = open(path);
    await expect(get(path, headers)).rejects.toThrow();
    if (['/chat', '/fixed'].includes(path)) await waitUntil(() => held.status === 'voided');
    await harness.gate.stop();
    expect(held.used).toBe(0n);
  });
});

describe('a gate that ends', () => {
  test.each(['/chat', '/based', '/search', '/tab'])(
    'cuts an answer of %s off, which costs nothing',
    async (path) => {
      const timeouts = { connectMs: 1000, answerMs: 10_000, idleMs: 60_000, bodyMs: 30_000, drainMs: 1 };
      await start(
        (_request, response) => {
          response.writeHead(200, { 'x-tokens': '320' });
          response.write('most of it');
        },
        { timeouts },
      );
      const { headers, held } = open(path);
      await begin(path, headers, 'most of it');
      await harness.gate.stop();
      expect(held.used).toBe(0n);
      expect(calls()[0]).toMatchObject({ reason: 'gate_ended', amount: '0' });
      expect(harness.api.calls().filter((each) => each === 'capture')).toEqual([]);
    },
  );
});

describe('a buyer who leaves', () => {
  test.each([
    ['/chat', 32_000n],
    ['/based', 42_000n],
    ['/fixed', 20_000n],
    ['/search', 500n],
    ['/tab', 32_000n],
  ])('%s after the first byte pays the price that was known', async (path, used) => {
    await start((_request, response) => {
      response.writeHead(200, { 'x-tokens': '320' });
      response.write('most of it');
    });
    const { headers, held } = open(path);
    const { socket } = await begin(path, headers, 'most of it');
    socket.destroy();
    await waitUntil(() => held.used > 0n);
    expect(held.used).toBe(used);
    await waitUntil(() => harness.upstream.seen[0]!.socket.destroyed);
    await waitUntil(() => calls().length === 1);
    expect(calls()[0]).toMatchObject({ reason: 'client_disconnected', amount: String(used) });
  });

  test('before the first byte pays nothing, and the upstream is told', async () => {
    await start(() => undefined);
    const { headers, held } = open('/chat');
    const { socket } = await begin('/chat', headers, '');
    await waitUntil(() => harness.upstream.seen.length === 1);
    socket.destroy();
    await waitUntil(() => held.status === 'voided' && harness.upstream.seen[0]!.socket.destroyed);
    expect(held.used).toBe(0n);
  });
});

test.each([
  ['/chat', 32_000n],
  ['/based', 42_000n],
  ['/fixed', 20_000n],
  ['/tab', 32_000n],
])('a buyer who stalls %s until the upstream gives up pays what the answer says', async (path, used) => {
  const impatient = createImpatient({ 'x-tokens': '320' });
  await start(impatient.serve);
  const { headers, held } = open(path);
  expect(await readWithPause(harness.gate.port, path, headers, impatient.gaveUp)).toBeGreaterThan(0);
  await waitUntil(() => calls().length === 1);
  expect(calls()[0]).toMatchObject({ reason: 'upstream_broken', amount: String(used) });
  await harness.gate.stop();
  expect(held.used).toBe(used);
});

describe('a tab', () => {
  test('serves many calls, is ended by its buyer, and captured once', async () => {
    await start((_request, response) => response.writeHead(200, { 'x-tokens': '100' }).end('ok'));
    const { headers, held } = open('/tab');
    for (const id of ['first-request', 'second-request', 'third-request', 'third-request'])
      expect((await get('/tab', headers, id)).status).toBe(200);
    expect([harness.upstream.seen.length, held.status]).toEqual([3, 'authorized']);
    expect(harness.upstream.seen[0]!.headers['quittance-amount']).toBe('50000');
    const closed = await get('/tab', { ...headers, 'x-tab-close': '1' });
    expect(closed.status).toBe(202);
    await waitUntil(() => held.status === 'captured');
    expect(held.used).toBe(30_000n);
    await waitUntil(() => calls().length === 5);
    expect(calls().map(({ outcome }) => outcome)).toEqual(['paid', 'paid', 'paid', 'replayed', 'closed']);
    expect((await get('/tab', headers, 'fourth-request')).status).toBe(402);
  });

  test('what was used is reported when the gate ends, also before a reload', async () => {
    await start((_request, response) => response.end('ok'));
    const { headers, held } = open('/search');
    await get('/search', headers, 'first-request');
    harness.gate.reload({ ...harness.settings, storedBytes: 5000 });
    await get('/search', headers, 'second-request');
    await harness.gate.stop();
    expect([held.used, held.status]).toEqual([1000n, 'authorized']);
  });

  test('ends an answer when its wallet no longer covers it', async () => {
    await start((request, response) => {
      if (request.headers['x-short'] !== undefined) return response.end('short');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.write('data: 1\n\n');
    });
    const { headers, held } = open('/search');
    const stream = await begin('/search', headers, 'data: 1');
    held.isAtRisk = true;
    // The report of its use is refused.
    await get('/search', { ...headers, 'x-short': '1' });
    await waitUntil(() => stream.said().includes('event: quittance-stopped'));
    expect(stream.said()).toContain('"reason":"at_risk"');
    await waitUntil(() => harness.upstream.seen[0]!.socket.destroyed);
    await waitUntil(() => calls().length === 2);
    expect(calls()[1]).toMatchObject({ reason: 'authorization_ended' });
    expect(held.used).toBe(0n);
  });
});

test.each([
  ['/chat', 32_000n],
  ['/fixed', 20_000n],
  ['/search', 500n],
])('an upgraded connection of %s costs what its answer says', async (path, used) => {
  await start(() => undefined);
  harness.upstream.server.on('upgrade', (_request, socket) => {
    socket.end(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nx-tokens: 320\r\n\r\n',
    );
  });
  const { headers, held } = open(path);
  const handshake = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };
  const upgrade = { ...headers, connection: 'upgrade', upgrade: 'websocket', ...handshake };
  const { socket } = await begin(path, upgrade, 'HTTP/1.1 101');
  socket.destroy();
  await waitUntil(() => held.used > 0n);
  expect(held.used).toBe(used);
  await waitUntil(() => calls().length === 1);
  expect(calls()[0]).toMatchObject({ outcome: 'paid', amount: String(used) });
});

test.each([
  ['whole', 'Content-Length: 2', 'ok'],
  ['whose rest is to come', 'Content-Length: 9', 'ok'],
])(
  'an answer %s with a status that Node does not send costs nothing, and the gate serves on',
  async (_, length, body) => {
    await start((_request, response) => {
      response.socket!.write(`HTTP/1.1 099 Odd\r\nX-Tokens: 320\r\n${length}\r\n\r\n${body}`);
    });
    const { headers, held } = open('/chat');
    await get('/chat', headers).catch(() => undefined);
    await waitUntil(() => held.status === 'voided' && calls().length === 1);
    expect((await fetch(`${harness.url}/chat`)).status).toBe(402);
  },
);

test('a compressed stream of events is passed as it is', async () => {
  const bytes = gzipSync('data: 1\n\n');
  await start((_request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip', 'x-tokens': '320' })
      .end(bytes),
  );
  const { headers, held } = open('/chat');
  expect((await get('/chat', headers)).text).toBe('data: 1\n\n');
  await waitUntil(() => held.status === 'captured');
});

test('a stream of events with a length is passed as it is', async () => {
  const head = { 'content-type': 'text/event-stream', 'content-length': 9, 'x-tokens': '320' };
  await start((_request, response) => response.writeHead(200, head).end('data: 1\n\n'));
  const { headers } = open('/chat');
  const { answer, text } = await ask(`${harness.url}/chat`, { headers });
  expect([answer.headers['content-length'], text]).toEqual(['9', 'data: 1\n\n']);
});
