import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { ask, type GateHarness, startGateHarness } from '../../../test/support/fixtures/gate.ts';
import { createImpatient, readWithPause } from '../../../test/support/stand-ins/stalls.ts';
import { memoryCounters } from '../ground/free-counters.ts';
import type { FreeQuota } from '../ground/routes.ts';
import type { Settings } from '../settings/settings.ts';
import { windowAt } from './free-calls.ts';

/** The free calls of a caller, who has no payment yet. */
let harness: GateHarness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

const paid = { price: '50000' };
const TWO: FreeQuota = { calls: 2, per: 'day', by: null };
const BY_KEY: FreeQuota = { calls: 1, per: 'month', by: 'x-api-key' };
const ok: RequestListener = (_request, response) => void response.end('ok');
const start = async (serve: RequestListener, free: FreeQuota, changed: Partial<Settings> = {}) => {
  harness = await startGateHarness(serve, {
    routes: [{ match: 'GET,POST /report', paid, free }],
    ...changed,
  });
  return harness;
};

/** The status, and what the answer says of free calls. */
const call = async (path: string, headers: Record<string, string> = {}) => {
  const { answer } = await ask(`${harness!.url}${path}`, { headers });
  return [answer.statusCode!, answer.headers['quittance-free-remaining']];
};

describe('the first calls of a caller', () => {
  test('pass unpaid, and the next ones get the price', async () => {
    const { upstream, lines, url } = await start(
      (_request, response) => response.setHeader('cache-control', 'public, max-age=60').end('ok'),
      TWO,
    );
    const { answer } = await ask(`${url}/report`);
    // A shared cache would deliver it to those who have to pay.
    expect([answer.headers['quittance-free-remaining'], answer.headers['cache-control']]).toEqual([
      ...['1', 'private, no-store'],
    ]);
    expect(await call('/report?a=1')).toEqual([200, '0']);
    expect(await call('/report')).toEqual([402, '0']);
    expect(await call('/other')).toEqual([200, undefined]);
    expect(upstream.seen).toHaveLength(3);
    await waitUntil(() => lines.filter(({ message }) => message === 'call').length === 4);
    expect(lines.flatMap(({ outcome }) => outcome ?? [])).toEqual(['free', 'free', 'quoted', 'free']);
  });

  test('of 20 at the same time as many pass as are free', async () => {
    await start(ok, { ...TWO, calls: 5 });
    const all = await Promise.all(Array.from({ length: 20 }, () => call('/report')));
    expect(all.filter(([status]) => status === 200)).toHaveLength(5);
    expect(all.filter(([status]) => status === 402)).toHaveLength(15);
  });

  test('are not used by a payment, nor by who asks for the price', async () => {
    const { pay } = await start(ok, { ...TWO, calls: 1 });
    expect(await call('/report', pay())).toEqual([200, undefined]);
    expect(await call('/report', { 'quittance-free': 'no' })).toEqual([402, undefined]);
    expect(await call('/report?quittance_payment=s~stl_1~token')).not.toEqual([200, '0']);
    expect((await call('/report', { authorization: 'Payment wrong' }))[0]).toBe(402);
    expect(await call('/report')).toEqual([200, '0']);
    expect(await call('/report', pay())).toEqual([200, undefined]);
  });

  test('of a metered route are not metered', async () => {
    const { api } = await start(ok, TWO, {
      routes: [{ match: 'GET /chat', paid: { max: '1000000', price: '50000', tab: true }, free: TWO }],
    });
    expect(await call('/chat')).toEqual([200, '1']);
    expect(await call('/chat')).toEqual([200, '0']);
    expect(await call('/chat')).toEqual([402, '0']);
    expect(api.calls().filter((each) => !['quote', 'authorizationQuote'].includes(each))).toEqual([]);
  });

  test('are of one route only, however its path is spelled', async () => {
    const { upstream } = await start(ok, TWO, {
      routes: [
        { match: 'GET /cheap/**', paid, free: TWO },
        { match: 'GET /dear', paid: { price: '9000000' } },
      ],
    });
    for (const path of ['/cheap/..%2fdear', '/cheap/..;/dear'])
      expect([path, (await call(path))[0]]).toEqual([path, 400]);
    expect(upstream.seen).toEqual([]);
    expect(await call('/cheap/a%20b')).toEqual([200, '1']);
  });

  test('are counted again when the address of the route has another quota', async () => {
    const { gate, settings } = await start(ok, { ...TWO, calls: 1 });
    expect(await call('/report')).toEqual([200, '0']);
    gate.reload({ ...settings });
    expect(await call('/report')).toEqual([402, '0']);
    gate.reload({ ...settings, routes: [{ match: 'GET,POST /report', paid, free: TWO }] });
    expect(await call('/report')).toEqual([200, '1']);
  });
});

describe('a call that the upstream fails is given back', () => {
  const FAILURES: [string, RequestListener][] = [
    ['an error', (_request, response) => void response.writeHead(503).end()],
    ['a caller who is not allowed', (_request, response) => void response.writeHead(401).end()],
    ['no answer', (request) => void request.socket.destroy()],
    [
      'an answer that breaks',
      (_request, response) =>
        void response.writeHead(200, { 'content-length': 99 }).write('abc', () => response.destroy()),
    ],
  ];
  test.each(FAILURES)('%s', async (_name, fail) => {
    let isBroken = true;
    const { lines } = await start((request, response) => (isBroken ? fail : ok)(request, response), {
      ...TWO,
      calls: 1,
    });
    await call('/report').catch(() => 'broken');
    await waitUntil(() => lines.some(({ message }) => message === 'call'));
    isBroken = false;
    expect(await call('/report')).toEqual([200, '0']);
    expect(await call('/report')).toEqual([402, '0']);
  });

  test('but not one that the caller leaves', async () => {
    const [begun, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { url, lines } = await start(
      async (_request, response) => {
        begun.resolve();
        await next.promise;
        response.end();
      },
      { ...TWO, calls: 1 },
    );
    const leaving = new AbortController();
    const left = ask(`${url}/report`, { signal: leaving.signal }).catch(() => undefined);
    await begun.promise;
    leaving.abort();
    await left;
    await waitUntil(() => lines.some(({ message }) => message === 'call'));
    next.resolve();
    expect(await call('/report')).toEqual([402, '0']);
  });

  test('a long answer whose reader stalls until the upstream gives up is not given back', async () => {
    const impatient = createImpatient();
    const { gate } = await start(impatient.serve, { ...TWO, calls: 1 });
    await readWithPause(gate.port, '/report', {}, impatient.gaveUp);
    expect(await call('/report')).toEqual([402, '0']);
  });

  test('an upgrade that the upstream refuses', async () => {
    const { url, upstream } = await start(ok, TWO, {
      routes: [{ match: 'GET /ws', paid, free: { ...TWO, calls: 1 } }],
    });
    const upgrade = () =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
        socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
        socket.on('open', () => socket.close()).on('close', () => resolve('closed'));
        socket.on('error', reject);
      });
    const sockets = new WebSocketServer({ noServer: true });
    upstream.server.once('upgrade', (_request, refused) => {
      refused.end('HTTP/1.1 503 down\r\nConnection: close\r\n\r\n');
      upstream.server.on('upgrade', (request, socket, head) =>
        sockets.handleUpgrade(request, socket, head, () => undefined),
      );
    });
    expect(await upgrade()).toBe(503);
    expect(await upgrade()).toBe('closed');
    expect(await upgrade()).toBe(402);
  });
});

describe('a caller', () => {
  test('is an address, which nobody can make up by a header', async () => {
    await start(ok, { ...TWO, calls: 1 });
    expect(await call('/report', { 'x-forwarded-for': '192.0.2.1' })).toEqual([200, '0']);
    expect(await call('/report', { 'x-forwarded-for': '192.0.2.2' })).toEqual([402, '0']);
  });

  test.each([
    [1, 'made up, 192.0.2.1', 'other, 192.0.2.1', false],
    [1, '192.0.2.1', '192.0.2.2', true],
    [1, '2001:db8::1', '2001:db8::ffff:2', false],
    [1, '2001:db8:0:1::1', '2001:db8:0:2::1', true],
    [1, '192.0.2.1', '::ffff:192.0.2.1', false],
    [2, 'made up, 192.0.2.1, 10.0.0.1', 'other, 192.0.2.1, 10.0.0.2', false],
    [2, '192.0.2.1, 10.0.0.1', '192.0.2.2, 10.0.0.1', true],
  ])('behind %d proxies with %s and then %s', async (proxies, first, second, isAnother) => {
    await start(ok, { ...TWO, calls: 1 }, { proxies });
    expect((await call('/report', { 'x-forwarded-for': first }))[0]).toBe(200);
    expect((await call('/report', { 'x-forwarded-for': second }))[0]).toBe(isAnother ? 200 : 402);
  });

  test('without an address has no free call', async () => {
    await start(ok, TWO, { proxies: 2 });
    for (const value of ['192.0.2.1', 'unknown, 10.0.0.1', ','])
      expect([value, ...(await call('/report', { 'x-forwarded-for': value }))]).toEqual([
        ...[value, 402, undefined],
      ]);
  });

  test('is the value of a header, if the route says so', async () => {
    const { url } = await start(ok, BY_KEY);
    expect(await call('/report', { 'x-api-key': 'a' })).toEqual([200, '0']);
    expect(await call('/report', { 'x-api-key': 'a' })).toEqual([402, '0']);
    expect(await call('/report', { 'x-api-key': 'b' })).toEqual([200, '0']);
    expect(await call('/report')).toEqual([402, undefined]);
    expect(await call('/report', { 'x-api-key': 'a'.repeat(600) })).toEqual([402, undefined]);
    // Of two the upstream might check the other one.
    const two = await ask(`${url}/report`, { headers: { 'x-api-key': ['c', 'd'] } });
    expect(two.answer.statusCode).toBe(402);
  });
});

test('a proxy that asks lets the free calls pass, and the answer to its client uses none', async () => {
  await start(ok, TWO, { upstream: null, proxies: 1 });
  const headers = {
    ...{ 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/report' },
    'x-forwarded-for': '192.0.2.1',
  };
  expect(await call('/authorize?refuse=401', headers)).toEqual([200, '1']);
  expect(await call('/answer', headers)).toEqual([402, undefined]);
  expect(await call('/authorize', headers)).toEqual([200, '0']);
  expect(await call('/authorize?refuse=401', headers)).toEqual([401, '0']);
  expect(await call('/authorize', { ...headers, 'x-forwarded-for': '192.0.2.2' })).toEqual([200, '1']);
});

test('windows end in UTC', () => {
  const now = new Date('2027-12-31T23:30:00.000Z');
  expect(windowAt('hour', now)).toEqual({ name: '2027-12-31T23', leftMs: 1_800_000 });
  expect(windowAt('day', now)).toEqual({ name: '2027-12-31', leftMs: 1_800_000 });
  expect(windowAt('month', new Date('2028-02-28T00:00:00Z'))).toEqual({
    ...{ name: '2028-02', leftMs: 2 * 86_400_000 },
  });
});

test('names that callers make up take a bounded place in memory', async () => {
  const counters = memoryCounters(2);
  for (const key of ['a', 'b', 'a', 'c']) await counters.take(key, 5, 1000);
  // `b` was unused for longest, so it begins again.
  expect(await counters.take('a', 5, 1000)).toBe(2);
  expect(await counters.take('b', 5, 1000)).toBe(4);
});
