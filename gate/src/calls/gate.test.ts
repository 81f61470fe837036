import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { jwtVerify } from 'jose';
import { paymentOn, type Rail } from '../../../test/support/actors/incoming-buyers.ts';
import { waitFor, waitUntil } from '../../../test/support/base/wait.ts';
import { ask, type GateHarness, startGateHarness, textOf } from '../../../test/support/fixtures/gate.ts';
import { PUBLIC_URL } from '../../../test/support/stand-ins/vendor-api.ts';
import type { Settings } from '../settings/settings.ts';

/** What costs: admission, delivery, and who pays for a failure of the upstream. */
let harness: GateHarness;
const start = async (serve: RequestListener, changed: Partial<Settings> = {}) => {
  harness = await startGateHarness(serve, changed);
  return harness;
};
afterEach(() => harness.stop());

type Said = { error?: string; quote_token?: string; details?: { reason?: string } };
/** Repeats the request until it is no longer in progress. */
const get = async (url: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
  for (;;) {
    const response = await fetch(url, { ...init, headers: { ...headers, ...init.headers } });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    if (!text.includes('payment_in_progress'))
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: (isJson ? JSON.parse(text) : {}) as Said,
      };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
/** The API's limit of quotes. */
const limitedQuotes = (limit: number) => {
  const refused = { status: 429, body: { error: { code: 'rate_limited', message: '' } }, retryAfter: 60 };
  let made = 0;
  return ({ call }: { call: string }) => {
    if (call !== 'POST /v1/quote') return null;
    made += 1;
    return made > limit ? refused : null;
  };
};
const outcomes = () =>
  harness.lines.filter(({ message }) => message === 'call').map(({ outcome }) => outcome);

describe('a priced route', () => {
  test('asks for a payment, delivers once for it, and repeats the stored answer', async () => {
    let runs = 0;
    const { url, upstream, api, pay } = await start((_request, response) => {
      runs += 1;
      response.setHeader('cache-control', 'public, max-age=60');
      response.end(`report ${runs}`);
    });
    const asked = await get(`${url}/report`);
    expect([asked.status, asked.body.error]).toEqual([402, 'payment_required']);
    expect(upstream.seen).toEqual([]);
    const headers = pay();
    const paid = await get(`${url}/report`, headers);
    expect([paid.status, paid.text, paid.headers.get('cache-control')]).toEqual([
      ...[200, 'report 1', 'private, no-store'],
    ]);
    const again = await get(`${url}/report`, headers);
    expect([again.text, again.headers.get('x-payment-replayed'), runs]).toEqual(['report 1', 'true', 1]);
    const other = await get(`${url}/report?other`, headers);
    expect([other.status, other.body.details?.reason]).toEqual([402, 'spent']);
    expect(api.calls().filter((call) => call === 'redeem')).toHaveLength(1);
    await waitUntil(() => outcomes().length === 4);
    expect(outcomes()).toEqual(['quoted', 'paid', 'replayed', 'refused']);
  });

  test('tells the upstream of the payment, and nothing of it that the client has said', async () => {
    const secret = 'a secret of thirty-two characters!!';
    const { url, upstream, pay } = await start((_request, response) => response.end('ok'), {
      upstreamSecret: secret,
    });
    const headers = pay();
    const spoofed = {
      'quittance-settlement': 'stl_spoofed',
      quittance_token: 'spoofed',
      cookie: 'quittance_a=b; c=d',
    };
    await get(`${url}/report`, { ...headers, ...spoofed });
    const got = upstream.seen[0]!.headers;
    expect(got['quittance-settlement']).toBe(headers['x-settlement-id']);
    expect([got['quittance-amount'], got.quittance_token, got.cookie]).toEqual(['50000', undefined, 'c=d']);
    expect(
      Object.keys(got).filter((name) => /settlement-|payment/.test(name.replace('quittance-', ''))),
    ).toEqual([]);
    const { payload } = await jwtVerify(got['quittance-token'] as string, new TextEncoder().encode(secret));
    expect(payload).toMatchObject({
      settlement: headers['x-settlement-id'],
      method: 'GET',
      target: '/report',
    });
    await get(`${url}/free`, spoofed);
    expect(Object.keys(upstream.seen[1]!.headers).filter((name) => name.startsWith('quittance'))).toEqual([]);
  });

  test.each<Rail>(['x402', 'mpp'])('takes %s, and names its payer', async (rail) => {
    const { url, upstream } = await start((_request, response) => response.end('ok'), {
      dialects: ['x402', 'mpp'],
      offerSecret: 'a secret of thirty-two characters!!',
    });
    const asked = await get(`${url}/report`);
    const paid = await get(`${url}/report`, paymentOn[rail](asked.headers) as Record<string, string>);
    expect([paid.status, paid.text]).toEqual([200, 'ok']);
    expect(paid.headers.get(rail === 'x402' ? 'payment-response' : 'payment-receipt')).not.toBeNull();
    expect(upstream.seen[0]!.headers).toMatchObject({
      'quittance-payer': 'the payer',
      'quittance-amount': '50000',
    });
    expect(upstream.seen[0]!.headers.authorization).toBeUndefined();
  });

  test('has the price without an upload, and a body of any length with a payment', async () => {
    const { url, upstream, pay } = await start(async (request, response) =>
      response.end(await textOf(request)),
    );
    const body = 'abc'.repeat(100_000);
    const asked = await ask(`${url}/report`, {
      method: 'POST',
      headers: { expect: '100-continue', 'content-length': 9 },
    });
    expect([asked.answer.statusCode, asked.answer.headers.connection]).toEqual([402, 'close']);
    expect(upstream.seen).toEqual([]);
    const headers = pay();
    const post = (text: string) => get(`${url}/report`, headers, { method: 'POST', body: text });
    expect((await post(body)).text).toBe(body);
    expect((await post(`${body}!`)).body.details?.reason).toBe('spent');
    // Its end was not read, so it may be another body.
    expect((await post(`${body.slice(0, -1)}!`)).body.details?.reason).toBe('spent');
    const small = pay();
    expect((await get(`${url}/report`, small, { method: 'POST', body: 'a' })).text).toBe('a');
    expect((await get(`${url}/report`, small, { method: 'POST', body: 'b' })).body.details?.reason).toBe(
      'spent',
    );
    const waiting = pay();
    const continued = await ask(
      `${url}/report`,
      { method: 'POST', headers: { ...waiting, expect: '100-continue' } },
      (request) => {
        request.once('continue', () => request.end('later'));
        request.flushHeaders();
      },
    );
    expect(continued.text).toBe('later');
  });

  test('another range with the same payment does not get the stored one', async () => {
    const { url, pay } = await start((request, response) =>
      response.writeHead(206).end(request.headers.range),
    );
    const headers = pay();
    expect((await get(`${url}/report`, { ...headers, range: 'bytes=0-1' })).text).toBe('bytes=0-1');
    expect((await get(`${url}/report`, { ...headers, range: 'bytes=0-1' })).text).toBe('bytes=0-1');
    expect((await get(`${url}/report`, { ...headers, range: 'bytes=2-3' })).status).toBe(402);
  });

  test('a path that some servers read as it is refused, free or not', async () => {
    const { url, upstream, lines } = await start((_request, response) => response.end('ok'));
    for (const path of [
      '/REPORT',
      '/report/',
      '//report',
      '/%72eport',
      '/report;a',
      '/x%2fy/%2e%2e/report',
    ]) {
      const { answer, text } = await ask(url, { path });
      expect([path, answer.statusCode, JSON.parse(text)]).toEqual([
        path,
        400,
        { error: 'validation_error', details: { reason: 'path' } },
      ]);
    }
    expect(upstream.seen).toEqual([]);
    await waitUntil(() => lines.filter(({ reason }) => reason === 'path').length === 6);
  });

  test('another method of a path that is for sale is refused, and a preflight passes without a body', async () => {
    const { url, upstream } = await start((_request, response) => {
      response.setHeader('access-control-allow-origin', '*');
      response.end('ok');
    });
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY']) {
      const { answer, text } = await ask(`${url}/report`, { method });
      expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 405, 'GET, HEAD, POST']);
      expect(JSON.parse(text)).toEqual({ error: 'method_not_allowed', details: { reason: 'method' } });
    }
    expect(upstream.seen).toEqual([]);
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
    const { answer, text } = await ask(`${url}/report`, { method: 'OPTIONS', headers });
    expect([answer.statusCode, answer.headers['access-control-allow-origin'], text]).toEqual([200, '*', '']);
    expect(upstream.seen).toHaveLength(1);
    expect((await ask(`${url}/other`, { method: 'OPTIONS', headers })).text).toBe('ok');
    expect((await ask(`${url}/other`, { method: 'PUT' })).text).toBe('ok');
  });

  test('an escaped slash passes in the part that the settings name, and one quote is for one address', async () => {
    const routes = [{ match: 'GET /projects/:id', slashIn: 'id', paid: { price: '50000' } }];
    const { url, pay, upstream } = await start((_request, response) => response.end('ok'), { routes });
    const path = '/projects/group%2fproject';
    expect((await ask(url, { path, headers: pay('/projects/group%2Fproject') })).text).toBe('ok');
    expect(upstream.seen[0]!.url).toBe(path);
    expect((await ask(url, { path: '/other/a%2Fb' })).answer.statusCode).toBe(400);
  });

  test('unpaid requests of one network for invented names do not close a route', async () => {
    const named = { match: 'GET /forecast/:city', paid: { price: '50000' } };
    const { url, api } = await start((_request, response) => response.end('ok'), {
      routes: [{ match: 'GET /report', paid: { price: '50000' } }, named],
      proxies: 1,
    });
    api.faults.push(limitedQuotes(30));
    const from = async (path: string, address: string) =>
      (await get(`${url}${path}`, { 'x-forwarded-for': address })).status;
    for (let i = 0; i < 40; i += 1) {
      await ask(url, { path: `/report;a=${i}`, headers: { 'x-forwarded-for': '198.51.100.1' } });
      await from(`/forecast/x${i}`, `198.51.100.${i}`);
    }
    expect(await from('/forecast/another', '198.51.100.7')).toBe(503);
    expect(await from('/forecast/Ulm', '203.0.113.1')).toBe(402);
    expect(await from('/report', '198.51.100.1')).toBe(402);
  });

  test('only listed routes exist if the rest is refused', async () => {
    const { url, upstream } = await start((_request, response) => response.end('ok'), {
      passesUnmatched: false,
    });
    expect((await get(`${url}/other`)).body).toEqual({ error: 'not_found', details: { reason: 'no_route' } });
    expect(upstream.seen).toEqual([]);
  });
});

describe('a failure of the upstream costs nothing', () => {
  /** What the first request with a payment meets. Each is followed by the same request again. */
  const FAILURES: [string, RequestListener, number | 'broken'][] = [
    ['an error', (_request, response) => void response.writeHead(503).end('down'), 503],
    ['no answer in time', () => undefined, 504],
    ['a connection that breaks before the answer', (request) => void request.socket.destroy(), 502],
    [
      'a short answer that breaks',
      (_request, response) =>
        void response.writeHead(200, { 'content-length': 99 }).write('abc', () => response.destroy()),
      'broken',
    ],
    [
      'an answer that breaks after more than is stored',
      (_request, response) =>
        void response.writeHead(200).write('a'.repeat(50_000), () => response.destroy()),
      'broken',
    ],
    [
      'an answer that no parser accepts',
      (request) => void request.socket.end('HTTP/1.1 two hundred\r\n\r\n'),
      502,
    ],
  ];
  test.each(FAILURES)('%s', async (_name, fail, expected) => {
    let runs = 0;
    const { url, pay, api } = await start(
      (request, response) => {
        runs += 1;
        if (runs === 1) fail(request, response);
        else response.end(`run ${runs}`);
      },
      { timeouts: { connectMs: 1000, answerMs: 300, idleMs: 60_000, bodyMs: 30_000, drainMs: 1000 } },
    );
    const headers = pay();
    const first = await get(`${url}/report`, headers).catch(() => 'broken' as const);
    expect(first === 'broken' ? first : first.status).toBe(expected);
    const again = await get(`${url}/report`, headers);
    expect([again.status, again.text]).toEqual([200, 'run 2']);
    expect(api.calls().filter((call) => call === 'redeem')).toHaveLength(1);
  });

  test('no payment is taken while the upstream accepts no connection', async () => {
    const { url, pay, upstream, api } = await start((_request, response) => response.end('ok'));
    await upstream.stop();
    const headers = pay();
    const refused = await get(`${url}/report`, headers);
    expect([refused.status, refused.body]).toEqual([
      503,
      { error: 'service_unavailable', details: { reason: 'upstream_unreachable' } },
    ]);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(api.calls()).not.toContain('redeem');
    expect([...api.settlements.values()].map(({ redeemed }) => redeemed)).toEqual([false]);
  });

  test('no price is named while the upstream accepts no connection', async () => {
    const { url, upstream, api } = await start((_request, response) => response.end('ok'), {
      dialects: ['x402', 'mpp'],
      offerSecret: 'o'.repeat(32),
    });
    expect((await get(`${url}/report`)).status).toBe(402);
    await upstream.stop();
    const quotes = () => api.calls().filter((call) => call === 'quote').length;
    const made = quotes();
    const refused = await waitFor(
      () => get(`${url}/report`),
      ({ status }) => status !== 402,
    );
    expect([refused.status, refused.body]).toEqual([
      503,
      { error: 'service_unavailable', details: { reason: 'upstream_unreachable' } },
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('payment-required')).toBeNull();
    expect(quotes()).toBe(made);
  });

  test('a buyer who disconnects gets the same answer afterwards, from one run', async () => {
    const [begun, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let runs = 0;
    const { url, gate, pay } = await start(async (_request, response) => {
      runs += 1;
      response.write('all ');
      begun.resolve();
      await next.promise;
      response.end('of it');
    });
    const headers = pay();
    const socket = connect(gate.port, '127.0.0.1');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET /report HTTP/1.1\r\nhost: a\r\n${lines.join('')}\r\n`);
    await begun.promise;
    socket.destroy();
    next.resolve();
    const again = await get(`${url}/report`, headers);
    expect([again.text, runs, again.headers.get('x-payment-replayed')]).toEqual(['all of it', 1, 'true']);
  });

  test('a buyer who disconnects from a long answer ends it, and has got it', async () => {
    const gone = Promise.withResolvers<void>();
    const { url, gate, pay } = await start((_request, response) => {
      const chunk = Buffer.alloc(65_536);
      const write = () => {
        while (response.write(chunk));
      };
      response.on('drain', write).once('close', () => gone.resolve());
      write();
    });
    const headers = pay();
    const socket = connect(gate.port, '127.0.0.1');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET /report HTTP/1.1\r\nhost: a\r\n${lines.join('')}\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    await gone.promise;
    expect((await get(`${url}/report`, headers)).body.details?.reason).toBe('spent');
  });
});

test('a browser gets the page of the paywall, and its payment cookie does not reach the upstream', async () => {
  const { url, upstream } = await start((_request, response) => response.end('ok'));
  // A fetch must not set these.
  const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const { answer, text } = await ask(`${url}/report`, { headers });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([402, 'text/html; charset=utf-8']);
  expect(text).toContain('0.05 USDC');
  const back = await ask(`${url}/report?quittance_payment=s~stl_1~token`, { headers });
  expect(back.answer.statusCode).toBe(303);
  expect(back.answer.headers.location).toBe(`${PUBLIC_URL}/report`);
  expect(upstream.seen).toEqual([]);
});
