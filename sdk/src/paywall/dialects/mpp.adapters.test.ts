import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { validator } from 'hono/validator';
import { challengeOf, paymentOn } from '../../../../test/support/actors/incoming-buyers.ts';
import { PUBLIC_URL, startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import * as forExpress from '../adapters/express.ts';
import * as forFastify from '../adapters/fastify.ts';
import * as forHono from '../adapters/hono.ts';
import * as forNext from '../adapters/next.ts';
import type { Paywall } from '../main.ts';
import { mpp } from './mpp.ts';

/** The digest of a challenge on each framework's real server: of the bytes, if they are known. */

const PRICE = { price: '50000' };
/** Parsers write it without spaces. */
const BODY = '{ "city": "Bern" }';
const DIGEST = `sha-256=:${createHash('sha256').update(BODY).digest('base64')}:`;

let api: VendorApi;
const stops: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await api.stop();
});

type Serve = (init: RequestInit) => Response | Promise<Response>;
const onExpress = async (route: (app: express.Express) => void): Promise<Serve> => {
  const app = express();
  route(app);
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`;
  return (init) => fetch(url, init);
};
const FRAMEWORKS: Record<string, [digest: string | undefined, (sold: Paywall) => Promise<Serve>]> = {
  'express, unread': [
    DIGEST,
    (sold) =>
      onExpress((app) =>
        app.post('/report', forExpress.paid(sold, PRICE), (_request, response) => response.json({})),
      ),
  ],
  'express, parsed': [
    undefined,
    (sold) =>
      onExpress((app) =>
        app.post('/report', express.json(), forExpress.paid(sold, PRICE), (_request, response) =>
          response.json({}),
        ),
      ),
  ],
  'fastify, which parses': [
    undefined,
    async (sold) => {
      const app = fastify();
      app.post('/report', { preHandler: forFastify.paid(sold, PRICE) }, async () => ({}));
      const url = await app.listen({ host: '127.0.0.1', port: 0 });
      stops.push(() => app.close());
      return (init) => fetch(`${url}/report`, init);
    },
  ],
  'hono, unread': [
    DIGEST,
    async (sold) => {
      const app = new Hono();
      app.post('/report', forHono.paid(sold, PRICE), (c) => c.json({}));
      return (init) => app.request('/report', init);
    },
  ],
  'hono, after a validator': [
    undefined,
    async (sold) => {
      const app = new Hono();
      const valid = validator('json', (value) => value as object);
      app.post('/report', valid, forHono.paid(sold, PRICE), (c) => c.json(c.req.valid('json')));
      return (init) => app.request('/report', init);
    },
  ],
  next: [
    DIGEST,
    async (sold) => {
      const route = forNext.paid(sold, PRICE, () => Response.json({}));
      return (init) => route(new Request(`${PUBLIC_URL}/report`, init));
    },
  ],
};

test.each(Object.keys(FRAMEWORKS))('%s', async (name) => {
  const [digest, start] = FRAMEWORKS[name]!;
  const serve = await start(
    api.paywall({ dialects: [mpp({ secret: 'a secret of 32 or more characters' })] }),
  );
  const post = (headers: Record<string, string> = {}) =>
    serve({ method: 'POST', body: BODY, headers: { 'content-type': 'application/json', ...headers } });
  const unpaid = await post();
  expect([unpaid.status, unpaid.headers.get('content-type')]).toEqual([402, 'application/problem+json']);
  expect(challengeOf(unpaid.headers).digest).toBe(digest);
  expect((await post(paymentOn.mpp(unpaid.headers))).status).toBe(200);
});
