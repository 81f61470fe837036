import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express, { type Request as ExpressRequest } from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { validator } from 'hono/validator';
import { fromBase64, paymentOn, type Rail } from '../../../../test/support/actors/incoming-buyers.ts';
import { PUBLIC_URL, startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import { mpp } from '../dialects/mpp.ts';
import { x402 } from '../dialects/x402.ts';
import { memoryStore, type Paywall } from '../main.ts';
import * as forExpress from './express.ts';
import * as forFastify from './fastify.ts';
import * as forHono from './hono.ts';
import * as forNext from './next.ts';

/** The behaviour on a framework's real server: bodies, streams, broken connections. */
const PRICE = { price: '50000' };
let api: VendorApi;
let paywall: Paywall;
const stops: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  api = await startVendorApi();
  paywall = api.paywall({ maxStoredBytes: 1000, maxBodyBytes: 2000 });
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await api.stop();
});

const listen = async (handler: (request: IncomingMessage, response: ServerResponse) => unknown) => {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};
const paidFor = (path: string) => api.pay({ resource: `${PUBLIC_URL}${path}` });
/** Repeats the request until it is no longer in progress. */
const get = async (url: string, headers: Record<string, string>, init: RequestInit = {}) => {
  for (;;) {
    const response = await fetch(url, { ...init, headers: { ...headers, ...init.headers } });
    const text = await response.text();
    if (!text.includes('payment_in_progress'))
      return { status: response.status, headers: response.headers, text };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
/** Sends a request and disconnects as soon as `until` resolves. */
const hangUp = async (
  port: number,
  path: string,
  headers: Record<string, string>,
  until: Promise<unknown>,
) => {
  const socket = connect(port, '127.0.0.1');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n${lines.join('')}\r\n`);
  await until;
  socket.destroy();
};
const signal = () => Promise.withResolvers<void>();

describe('express', () => {
  test('headers of every form, several cookies and bytes are returned again unchanged', async () => {
    const app = express();
    app.get('/set', forExpress.paid(paywall, PRICE), (_request, response) => {
      response.status(201).set('x-one', '1').cookie('a', '1').cookie('b', '2');
      response.write(Buffer.from([0, 255]));
      response.end(Buffer.from([128]));
    });
    app.get('/head', forExpress.paid(paywall, PRICE), (_request, response) => {
      response.setHeader('x-one', 'old');
      response.writeHead(200, 'Fine', { 'X-One': '1', 'Set-Cookie': ['a=1', 'b=2'] });
      response.end('text');
    });
    const port = await listen(app);
    for (const path of ['/set', '/head']) {
      const headers = paidFor(path);
      const first = await get(`http://127.0.0.1:${port}${path}`, headers);
      const again = await get(`http://127.0.0.1:${port}${path}`, headers);
      expect(first.status).toBe(path === '/set' ? 201 : 200);
      expect([again.status, again.text]).toEqual([first.status, first.text]);
      expect(again.headers.get('x-payment-replayed')).toBe('true');
      expect(again.headers.get('x-one')).toBe('1');
      expect(again.headers.getSetCookie()).toHaveLength(2);
    }
  });

  test('an unread body becomes bytes for the handler, and both it and a parsed body are part of the request', async () => {
    const app = express();
    const echo = (request: ExpressRequest, response: express.Response) => {
      const { body } = request;
      response.json(
        ArrayBuffer.isView(body) ? { bytes: Buffer.from(body as Uint8Array).toString() } : { body },
      );
    };
    app.post('/raw', forExpress.paid(paywall, PRICE), echo);
    app.post('/json', express.json(), forExpress.paid(paywall, PRICE), echo);
    const port = await listen(app);
    const post = (path: string, headers: Record<string, string>, body: string) =>
      get(`http://127.0.0.1:${port}${path}`, headers, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
    const raw = paidFor('/raw');
    expect((await post('/raw', raw, '"'.repeat(2001))).status).toBe(413);
    expect((await post('/raw', raw, '{"a":1}')).text).toBe('{"bytes":"{\\"a\\":1}"}');
    const parsed = paidFor('/json');
    expect((await post('/json', parsed, '{"a":1}')).text).toBe('{"body":{"a":1}}');
    for (const [path, headers] of [
      ['/raw', raw],
      ['/json', parsed],
    ] as const) {
      expect((await post(path, headers, '{"a":2}')).status).toBe(402);
      expect((await post(path, headers, '{"a":1}')).headers.get('x-payment-replayed')).toBe('true');
    }
  });

  test('a buyer who disconnects while the handler runs gets the answer of that run afterwards', async () => {
    const [begun, gone] = [signal(), signal()];
    let runs = 0;
    const app = express();
    app.get('/slow', forExpress.paid(paywall, PRICE), async (_request, response) => {
      runs += 1;
      response.once('close', () => gone.resolve());
      begun.resolve();
      await gone.promise;
      response.send('done');
    });
    const port = await listen(app);
    const headers = paidFor('/slow');
    await hangUp(port, '/slow', headers, begun.promise);
    await gone.promise;
    const again = await get(`http://127.0.0.1:${port}/slow`, headers);
    expect([again.status, again.text, runs]).toEqual([200, 'done', 1]);
  });

  test('a buyer who disconnects during a stream gets all of it afterwards, from one run', async () => {
    const [begun, gone] = [signal(), signal()];
    let runs = 0;
    const app = express();
    app.get('/words', forExpress.paid(paywall, PRICE), async (_request, response) => {
      runs += 1;
      response.once('close', () => gone.resolve());
      response.write('all ');
      begun.resolve();
      await gone.promise;
      await new Promise((resolve) => setTimeout(resolve, 50));
      response.end('words');
    });
    const port = await listen(app);
    const headers = paidFor('/words');
    await hangUp(port, '/words', headers, begun.promise);
    await gone.promise;
    const again = await get(`http://127.0.0.1:${port}/words`, headers);
    expect([again.status, again.text, runs]).toEqual([200, 'all words', 1]);
  });

  test.each([
    ['short', 10, 200],
    ['long', 5000, 402],
  ])(
    'after a %s stream that breaks off after %d bytes the next request gets %d',
    async (_, bytes, expected) => {
      let runs = 0;
      const app = express();
      app.get('/stream', forExpress.paid(paywall, PRICE), (_request, response) => {
        runs += 1;
        if (runs > 1) return void response.send('whole');
        response.write('x'.repeat(bytes));
        response.destroy();
      });
      const port = await listen(app);
      const headers = paidFor('/stream');
      const url = `http://127.0.0.1:${port}/stream`;
      await expect(get(url, headers)).rejects.toThrow();
      expect((await get(url, headers)).status).toBe(expected);
    },
  );

  test('an error of the price goes to the error handler, and after an error of the handler the request can be repeated', async () => {
    const app = express();
    let broken = true;
    const price = (request: ExpressRequest) => {
      if (request.query.bad !== undefined) throw new Error('no price');
      return '50000';
    };
    app.get('/x', forExpress.paid(paywall, { price }), (_request, response) => {
      if (broken) throw new Error('broken');
      response.send('ok');
    });
    app.use((_error: Error, _q: ExpressRequest, response: express.Response, _next: unknown) => {
      response.status(500).send('error page');
    });
    const url = `http://127.0.0.1:${await listen(app)}/x`;
    const headers = paidFor('/x');
    expect((await get(`${url}?bad`, {})).text).toBe('error page');
    expect((await get(url, headers)).status).toBe(500);
    broken = false;
    expect((await get(url, headers)).text).toBe('ok');
  });
});

describe('fastify', () => {
  test('streams, thrown errors and hooks of other routes work as with any handler', async () => {
    const app = fastify();
    let runs = 0;
    const preHandler = forFastify.paid(paywall, PRICE);
    app.get('/stream', { preHandler }, (_request, reply) => {
      const chunks = [new TextEncoder().encode('one '), new TextEncoder().encode('two')];
      return reply.header('x-one', '1').send(new Response(ReadableStream.from(chunks)));
    });
    app.get('/error', { preHandler }, async () => {
      runs += 1;
      if (runs === 1) throw new Error('broken');
      return { runs };
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    stops.push(() => app.close());
    const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    const stream = paidFor('/stream');
    expect((await get(`${base}/stream`, stream)).text).toBe('one two');
    const again = await get(`${base}/stream`, stream);
    expect([again.text, again.headers.get('x-one')]).toEqual(['one two', '1']);
    const failing = paidFor('/error');
    expect((await get(`${base}/error`, failing)).status).toBe(500);
    expect((await get(`${base}/error`, failing)).text).toBe('{"runs":2}');
    expect((await get(`${base}/error`, failing)).text).toBe('{"runs":2}');
  });
});

describe('hono', () => {
  test('a body that a validator has read is part of the request, and the handler can read it', async () => {
    const app = new Hono();
    app.post(
      '/v',
      validator('json', (value) => value as { city: string }),
      forHono.paid(paywall, PRICE),
      (c) => c.text(c.req.valid('json').city),
    );
    app.post('/r', forHono.paid(paywall, PRICE), async (c) => c.text(await c.req.text()));
    for (const path of ['/v', '/r']) {
      const headers = { ...paidFor(path), 'content-type': 'application/json' };
      const post = (city: string) =>
        app.request(path, { method: 'POST', headers, body: JSON.stringify({ city }) });
      expect(await (await post('Ulm')).text()).toContain('Ulm');
      expect((await post('Bonn')).status).toBe(402);
      expect((await post('Ulm')).headers.get('x-payment-replayed')).toBe('true');
    }
  });
});

type Serve = (path: string, headers: Record<string, string>) => Promise<Response>;
/** The same route in each framework: it counts its runs, and sets headers of its own. */
const SHOPS: Record<string, (sold: Paywall, run: () => object) => Promise<Serve>> = {
  express: async (sold, run) => {
    const app = express();
    app.get('/report', forExpress.paid(sold, PRICE), (_request, response) => {
      response.set('x-one', '1').json(run());
    });
    const port = await listen(app);
    return (path, headers) => fetch(`http://127.0.0.1:${port}${path}`, { headers });
  },
  fastify: async (sold, run) => {
    const app = fastify();
    app.get('/report', { preHandler: forFastify.paid(sold, PRICE) }, (_request, reply) =>
      reply.header('x-one', '1').send(run()),
    );
    await app.listen({ host: '127.0.0.1', port: 0 });
    stops.push(() => app.close());
    const { port } = app.server.address() as AddressInfo;
    return (path, headers) => fetch(`http://127.0.0.1:${port}${path}`, { headers });
  },
  hono: async (sold, run) => {
    const app = new Hono();
    app.get('/report', forHono.paid(sold, PRICE), (c) => c.json(run(), 200, { 'x-one': '1' }));
    return async (path, headers) => app.request(path, { headers });
  },
  next: async (sold, run) => {
    const route = forNext.paid(sold, PRICE, () => Response.json(run(), { headers: { 'x-one': '1' } }));
    return (path, headers) => route(new Request(`http://localhost${path}`, { headers }));
  },
};

describe.each(Object.entries(SHOPS))('%s with the dialects x402 and MPP', (_framework, start) => {
  const secret = 'a secret of the vendor, 32 or more';
  const open = async () => {
    const state = { runs: 0, fails: false };
    const options = { dialects: [x402({ secret, v1: true }), mpp({ secret })], store: memoryStore() };
    const serve = await start(api.paywall(options), () => {
      state.runs += 1;
      return { runs: state.runs };
    });
    return { state, serve };
  };

  test.each<[Rail, string]>([
    ['x402', 'payment-response'],
    ['mpp', 'payment-receipt'],
  ])(
    'a payment of %s gets the answer of one run with its receipt, also the second time',
    async (rail, receipt) => {
      const { state, serve } = await open();
      const unpaid = await serve('/report', {});
      expect(unpaid.status).toBe(402);
      expect(await unpaid.json()).toMatchObject({ error: 'payment_required', x402Version: 1 });
      const payment = paymentOn[rail](unpaid.headers);
      const first = await serve('/report', payment);
      expect([first.status, await first.json()]).toEqual([200, { runs: 1 }]);
      expect(fromBase64(first.headers.get(receipt))).toBeTruthy();
      expect(first.headers.get('x-one')).toBe('1');
      expect(first.headers.get('cache-control')).toContain('private');
      const again = await serve('/report', payment);
      expect([again.status, await again.json()]).toEqual([200, { runs: 1 }]);
      expect(again.headers.get(receipt)).toBe(first.headers.get(receipt));
      expect(state.runs).toBe(1);
    },
  );

  test('an open outcome is a 503 without offers, and a refused payment a 402 with new ones', async () => {
    const { state, serve } = await open();
    const payment = paymentOn.mpp((await serve('/report', {})).headers);
    const said = { status: 503, code: 'service_unavailable' };
    api.faults.push(({ call }) =>
      call === 'POST /v1/settlements/foreign'
        ? { status: said.status, body: { error: { code: said.code, message: '' } }, retryAfter: 60 }
        : null,
    );
    const undecided = await serve('/report', payment);
    expect([undecided.status, undecided.headers.get('retry-after')]).toEqual([503, '60']);
    expect(undecided.headers.get('www-authenticate')).toBeNull();
    Object.assign(said, { status: 409, code: 'payment_failed' });
    const refused = await serve('/report', payment);
    expect(refused.status).toBe(402);
    expect(refused.headers.get('www-authenticate')).toContain('Payment id=');
    expect(refused.headers.get('payment-required')).not.toBeNull();
    expect(state.runs).toBe(0);
  });

  test('a native payment is delivered as before', async () => {
    const { serve } = await open();
    const answer = await serve('/report', paidFor('/report'));
    expect([answer.status, answer.headers.get('payment-response')]).toEqual([200, null]);
  });
});
