import { Agent, createServer, request as httpRequest, type RequestOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import * as forExpress from '../adapters/express.ts';
import * as forFastify from '../adapters/fastify.ts';
import * as forHono from '../adapters/hono.ts';
import * as forNext from '../adapters/next.ts';
import type { Paywall } from '../main.ts';

/** A request that no payment can rescue is refused before its price, by every adapter. */
const PRICE = { price: '50000' };
const LIMIT = 2000;
let api: VendorApi;
const stops: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await api.stop();
});

type Consume = 'unread' | 'consumed';
type Closable = { closeAllConnections: () => void; close: (done: () => void) => unknown };
const stopped = (server: Closable) =>
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(resolve));
  });
const serveFetch = async (fetch: (request: Request) => Response | Promise<Response>): Promise<number> =>
  new Promise((resolve) => {
    const server = serve({ fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(port));
    stopped(server as unknown as Closable);
  });

/** A server of each framework that echoes the size of a body. `consumed`: something has read it. */
const ADAPTERS: Record<string, (paywall: Paywall, body: Consume) => Promise<number>> = {
  express: async (paywall, body) => {
    const app = express();
    if (body === 'consumed')
      app.use(async (request, _response, next) => {
        for await (const _ of request);
        next();
      });
    app.post('/a', forExpress.paid(paywall, PRICE), (request, response) => {
      response.send(String((request.body as Uint8Array).length));
    });
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stopped(server);
    return (server.address() as AddressInfo).port;
  },
  fastify: async (paywall) => {
    const app = fastify({ bodyLimit: LIMIT });
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
    app.post('/a', { preHandler: forFastify.paid(paywall, PRICE) }, async ({ body }) =>
      String((body as Uint8Array).length),
    );
    await app.listen({ host: '127.0.0.1', port: 0 });
    stops.push(() => app.close());
    return (app.server.address() as AddressInfo).port;
  },
  hono: async (paywall, body) => {
    const app = new Hono();
    if (body === 'consumed')
      app.use(async (c, next) => {
        await c.req.raw.text();
        await next();
      });
    app.post('/a', forHono.paid(paywall, PRICE), async (c) =>
      c.text(String((await c.req.arrayBuffer()).byteLength)),
    );
    return serveFetch(app.fetch);
  },
  'next and fetch': async (paywall, body) => {
    const route = forNext.paid(
      paywall,
      PRICE,
      async (request: Request) => new Response(String((await request.arrayBuffer()).byteLength)),
    );
    return serveFetch(async (request) => {
      if (body === 'consumed') await request.text();
      return route(request);
    });
  },
};

/** One request over an agent with a single kept connection. */
const post = (agent: Agent, port: number, body: string, headers: RequestOptions['headers'] = {}) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const options = { agent, host: '127.0.0.1', port, path: '/a', method: 'POST', headers };
    const request = httpRequest(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, text }));
    });
    request.on('error', reject);
    request.end(body);
  });

const FORMS: [string, (body: string) => Record<string, string>][] = [
  ['Content-Length', (body) => ({ 'content-length': String(body.length) })],
  ['chunks', () => ({ 'transfer-encoding': 'chunked' })],
];

describe.each(Object.entries(ADAPTERS))('%s', (name, start) => {
  test.each(FORMS)(
    'a body above the limit, sent with %s, gets 413 and no quote, and the next request of the connection its price',
    async (_form, headersOf) => {
      const port = await start(api.paywall({ maxBodyBytes: LIMIT }), 'unread');
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      stops.push(async () => agent.destroy());
      const type = { 'content-type': 'application/octet-stream' };
      for (const size of [LIMIT + 1, 1_500_000]) {
        const body = 'x'.repeat(size);
        expect((await post(agent, port, body, { ...type, ...headersOf(body) })).status).toBe(413);
        expect(api.calls()).not.toContain('quote');
      }
      const fits = 'x'.repeat(LIMIT);
      expect((await post(agent, port, fits, { ...type, ...headersOf(fits) })).status).toBe(402);
      const paid = { ...api.pay({ resource: 'https://shop.example.com/a' }), ...type };
      expect(await post(agent, port, fits, { ...paid, ...headersOf(fits) })).toEqual({
        status: 200,
        text: String(LIMIT),
      });
    },
  );

  test('an invalid id of the request is refused before the price', async () => {
    const port = await start(api.paywall(), 'unread');
    const headers = { 'content-type': 'text/plain', 'x-payment-request-id': 'a b' };
    expect((await post(new Agent(), port, 'x', headers)).status).toBe(400);
    expect(api.calls()).not.toContain('quote');
  });

  // Fastify always parses a body itself.
  if (name !== 'fastify')
    test('a body that was read before the paywall is a fault of the vendor, which no buyer pays for', async () => {
      const port = await start(api.paywall(), 'consumed');
      const { status, text } = await post(new Agent(), port, 'x', { 'content-type': 'text/plain' });
      expect([status, JSON.parse(text).details.reason]).toEqual([503, 'vendor_configuration']);
      expect(api.calls()).not.toContain('quote');
      expect(api.log.at(-1)).toMatchObject({
        event: 'refused',
        message: expect.stringContaining('body was read'),
      });
    });
});
