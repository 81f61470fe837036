import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { getRequestListener } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import { PUBLIC_URL, startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import { extend } from '../../../../test/support/stand-ins/vendor-authorizations.ts';
import * as forExpress from '../adapters/express.ts';
import * as forFastify from '../adapters/fastify.ts';
import * as forHono from '../adapters/hono.ts';
import { type Meter, type MeteredRoute, meterOf, type Paywall } from '../main.ts';

/** Metered routes on real servers: the price, its header, streams, broken connections. */
let api: VendorApi;
const stops: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await api.stop();
});

const ROUTE = {
  max: '$0.50',
  price: ({ json }: { json: () => { tokens: number } }) => BigInt(json().tokens) * 100n,
} satisfies MeteredRoute<never>;
const STREAM = { max: '$0.50' } satisfies MeteredRoute<never>;
/** A fixed price for each call, to which its handler adds what it charges. */
const PRICED = { max: '$0.50', price: '$0.02' } satisfies MeteredRoute<never>;
const PRICED_TAB = { ...PRICED, tab: { perCall: '$0.10' } } satisfies MeteredRoute<never>;
/** Two calls, after which its buyer may extend it. */
const EXTENDED = { max: '$0.50', price: '$0.25', tab: { extend: true } } satisfies MeteredRoute<never>;
const LEFT = { '/priced': PRICED, '/priced-tab': PRICED_TAB };

/** Chunks of a stream, each of which is charged before it is sent. `hold` ends it after three. */
async function* chunks(meter: Meter, hold: Promise<unknown> | null) {
  for (let sent = 1; sent <= 3; sent += 1) {
    meter.charge('$0.01');
    yield `data: ${sent}\n\n`;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  if (hold !== null) await hold;
}
const never = new Promise(() => {});
/** A stream that the vendor breaks off, unless its buyer has left. */
async function* broken(meter: Meter, fails: Promise<unknown>) {
  meter.charge('$0.01');
  yield 'data: 1\n\n';
  await fails;
  throw new Error('no model');
}
/** What makes the stream of `broken` fail. */
let fail = (): void => undefined;
const failing = (): Promise<void> =>
  new Promise((resolve) => {
    fail = resolve;
  });
const EVENTS = { 'content-type': 'text/event-stream' };

type Start = (paywall: Paywall) => Promise<number> | number;
const listenOn = async (server: ReturnType<typeof createServer>): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};

const FRAMEWORKS: Record<string, Start> = {
  express: (paywall) => {
    const app = express();
    app.get('/price', forExpress.paid(paywall, ROUTE), (_request, response) => {
      response.json({ tokens: 500 });
    });
    app.get('/extended', forExpress.paid(paywall, EXTENDED), (_request, response) => {
      response.json({});
    });
    app.get('/fails', forExpress.paid(paywall, ROUTE), (request, response) => {
      meterOf(request).charge('$0.10');
      response.status(500).json({});
    });
    for (const [path, hold] of [
      ['/events', null],
      ['/hangs', never],
    ] as const)
      app.get(path, forExpress.paid(paywall, STREAM), (request, response) => {
        response.set(EVENTS);
        Readable.from(chunks(meterOf(request), hold)).pipe(response);
      });
    app.get('/silent', forExpress.paid(paywall, STREAM), (request) => {
      meterOf(request).charge('$0.10');
    });
    for (const [path, route] of Object.entries(LEFT))
      app.get(path, forExpress.paid(paywall, route), (request, response) => {
        response.set(EVENTS);
        // As some handlers do that clean up.
        request.on('aborted', () => response.destroy());
        pipeline(broken(meterOf(request), failing()), response).catch(() => undefined);
      });
    return listenOn(createServer(app));
  },
  fastify: async (paywall) => {
    const app = fastify();
    app.get('/price', { preHandler: forFastify.paid(paywall, ROUTE) }, async () => ({ tokens: 500 }));
    app.get('/extended', { preHandler: forFastify.paid(paywall, EXTENDED) }, async () => ({}));
    app.get('/fails', { preHandler: forFastify.paid(paywall, ROUTE) }, async (request) => {
      meterOf(request).charge('$0.10');
      throw new Error('no model');
    });
    for (const [path, hold] of [
      ['/events', null],
      ['/hangs', never],
    ] as const)
      app.get(path, { preHandler: forFastify.paid(paywall, STREAM) }, (request, reply) =>
        reply.headers(EVENTS).send(Readable.from(chunks(meterOf(request), hold))),
      );
    app.get('/silent', { preHandler: forFastify.paid(paywall, STREAM) }, async (request) => {
      meterOf(request).charge('$0.10');
      await never;
    });
    for (const [path, route] of Object.entries(LEFT))
      app.get(path, { preHandler: forFastify.paid(paywall, route) }, (request, reply) =>
        reply.headers(EVENTS).send(Readable.from(broken(meterOf(request), failing()))),
      );
    await app.listen({ port: 0, host: '127.0.0.1' });
    stops.push(() => {
      app.server.closeAllConnections();
      return app.close();
    });
    return (app.server.address() as AddressInfo).port;
  },
  hono: (paywall) => {
    const app = new Hono();
    app.get('/price', forHono.paid(paywall, ROUTE), (c) => c.json({ tokens: 500 }));
    app.get('/extended', forHono.paid(paywall, EXTENDED), (c) => c.json({}));
    app.get('/fails', forHono.paid(paywall, ROUTE), (c) => {
      meterOf(c).charge('$0.10');
      return c.json({}, 500);
    });
    for (const [path, hold] of [
      ['/events', null],
      ['/hangs', never],
    ] as const)
      app.get(path, forHono.paid(paywall, STREAM), (c) => {
        const bytes = Readable.from(chunks(meterOf(c), hold)).map((text: string) => Buffer.from(text));
        return new Response(Readable.toWeb(bytes) as ReadableStream, { headers: EVENTS });
      });
    for (const [path, route] of Object.entries(LEFT))
      app.get(path, forHono.paid(paywall, route), (c) => {
        const parts = Readable.from(broken(meterOf(c), failing())).map((text: string) => Buffer.from(text));
        return new Response(Readable.toWeb(parts) as ReadableStream, { headers: EVENTS });
      });
    return listenOn(createServer(getRequestListener(app.fetch)));
  },
};

describe.each(Object.entries(FRAMEWORKS))('%s', (_, start) => {
  const open = async (path: string) => {
    const port = await start(api.paywall());
    const { headers, held } = api.authorize({ resource: `${PUBLIC_URL}${path}` }, 500_000n);
    const get = async () => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      const { status } = response;
      return { status, usage: response.headers.get('quittance-usage'), text: await response.text() };
    };
    return { port, headers, held, get };
  };

  test('the price of an answer is in its header, also of a repeat, and is captured', async () => {
    const { held, get } = await open('/price');
    const answer = { status: 200, usage: 'charged=50000', text: '{"tokens":500}' };
    expect(await get()).toEqual(answer);
    await waitUntil(() => held.status === 'captured');
    expect(await get()).toEqual(answer);
    expect(held.used).toBe(50_000n);
  });

  test('a tab that is used up is offered an extension, and serves on after it', async () => {
    const paywall = api.paywall();
    const port = await start(paywall);
    const scope = { resource: `${PUBLIC_URL}/extended`, tab: true as const };
    const { headers, held } = api.authorize(scope, 500_000n);
    const get = (call: number) =>
      fetch(`http://127.0.0.1:${port}/extended`, {
        headers: { ...headers, 'x-payment-request-id': `${call}` },
      });
    expect([(await get(1)).status, (await get(2)).status]).toEqual([200, 200]);
    const asked = await get(3);
    expect([asked.status, await asked.json()]).toMatchObject([402, { extends: held.quote_id }]);
    extend(held, 'attempt', 500_000n);
    const answer = await get(3);
    expect([answer.status, answer.headers.get('quittance-usage')]).toEqual([
      200,
      'charged=250000, left=250000',
    ]);
    await paywall.close();
    expect(held.used).toBe(750_000n);
  });

  test('a failed answer releases what was authorized before it is sent', async () => {
    const { held, get } = await open('/fails');
    expect(await get()).toMatchObject({ status: 500, usage: null });
    expect([held.status, held.used]).toEqual(['voided', 0n]);
  });

  test('a stream of events ends with what it has cost', async () => {
    const { held, get } = await open('/events');
    const { status, usage, text } = await get();
    expect([status, usage]).toEqual([200, null]);
    expect(text).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n: quittance-usage charged=30000\n\n');
    await waitUntil(() => held.status === 'captured');
    expect(held.used).toBe(30_000n);
  });

  /** Reads an answer until a text has come. */
  const begin = async (path: string, port: number, headers: Record<string, string>, until: string) => {
    const socket = connect(port, '127.0.0.1');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n${lines.join('')}\r\n`);
    let text = '';
    await new Promise<void>((resolve) => {
      socket.on('data', (data) => {
        text += String(data);
        if (text.includes(until)) resolve();
      });
    });
    return socket;
  };

  test('a buyer who leaves a stream pays what was delivered', async () => {
    const { port, headers, held } = await open('/hangs');
    const socket = await begin('/hangs', port, headers, 'data: 3');
    socket.destroy();
    await waitUntil(() => held.status === 'captured');
    expect(held.used).toBe(30_000n);
  });

  test.each([
    ['/priced', 'its buyer leaves', 30_000n],
    ['/priced-tab', 'its buyer leaves', 30_000n],
    ['/priced', 'the vendor breaks it off', 10_000n],
    ['/priced-tab', 'the vendor breaks it off', 10_000n],
  ])('of %s, %s after the first byte: %d are owed', async (path, who, used) => {
    const isTab = path === '/priced-tab';
    const paywall = api.paywall();
    const port = await start(paywall);
    const scope = { resource: `${PUBLIC_URL}${path}`, ...(isTab && { tab: true as const }) };
    const { headers, held } = api.authorize(scope, 500_000n);
    const socket = await begin(path, port, headers, 'data: 1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    if (who === 'its buyer leaves') socket.destroy();
    else fail();
    await closed;
    // Use that does not exceed the fee is released.
    if (!isTab) await waitUntil(() => held.status === (used > 10_000n ? 'captured' : 'voided'));
    else await waitUntil(() => held.used >= used);
    await paywall.close();
    expect(held.used).toBe(used);
  });
});

test.each(['express', 'fastify'])(
  '%s: a buyer who leaves before the first byte pays nothing',
  async (name) => {
    const port = await FRAMEWORKS[name]!(api.paywall());
    const { headers, held } = api.authorize({ resource: `${PUBLIC_URL}/silent` }, 500_000n);
    const controller = new AbortController();
    const asked = fetch(`http://127.0.0.1:${port}/silent`, { headers, signal: controller.signal });
    await waitUntil(() => api.log.some(({ event }) => event === 'opened'));
    controller.abort();
    await expect(asked).rejects.toThrow();
    await waitUntil(() => held.status === 'voided');
    expect(held.used).toBe(0n);
  },
);
