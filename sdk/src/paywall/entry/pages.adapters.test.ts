import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import fastify from 'fastify';
import { PUBLIC_URL, startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import { addressWith } from '../../payment-page.ts';
import * as forExpress from '../adapters/express.ts';
import * as forFastify from '../adapters/fastify.ts';
import type { Paywall } from '../main.ts';

/** What a browser gets from a framework's real server: pages, redirects and cookies. */
const PRICE = { price: '50000' };
let api: VendorApi;
const stops: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  api = await startVendorApi();
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

const PRODUCT = '<h1>All is well</h1>';
const ADAPTERS: Record<string, (paywall: Paywall) => Promise<number>> = {
  express: (paywall) => {
    const app = express();
    app.get('/report', forExpress.paid(paywall, PRICE), (_, response) => void response.send(PRODUCT));
    return listen(app);
  },
  fastify: async (paywall) => {
    const app = fastify();
    app.get('/report', { preHandler: forFastify.paid(paywall, PRICE) }, () => PRODUCT);
    await app.ready();
    stops.push(() => app.close());
    return listen((incoming, response) => app.routing(incoming, response));
  },
};

/** `fetch` would write these headers by itself. */
const BROWSER = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const openAt = (port: number, path: string, cookie = '') =>
  new Promise<{ status: number; headers: IncomingMessage['headers']; text: string }>((resolve, reject) => {
    request({ port, path, headers: { ...BROWSER, cookie } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    })
      .on('error', reject)
      .end();
  });

test.each(Object.keys(ADAPTERS))(
  '%s sends the page, the redirect with its cookie, and the product',
  async (name) => {
    const port = await ADAPTERS[name]!(api.paywall({}));
    const page = await openAt(port, '/report');
    expect([page.status, page.headers['content-type']]).toEqual([402, 'text/html; charset=utf-8']);
    const [settlement_id, settlement_token] = Object.values(
      api.pay({ resource: `${PUBLIC_URL}/report` }),
    ) as [string, string];
    const back = new URL(addressWith(`${PUBLIC_URL}/report`, { settlement_id, settlement_token }));
    const redirect = await openAt(port, `${back.pathname}${back.search}`);
    expect([redirect.status, redirect.headers.location]).toEqual([303, `${PUBLIC_URL}/report`]);
    const [cookie] = redirect.headers['set-cookie']!;
    const product = await openAt(port, '/report', cookie!.split(';')[0]!);
    expect([product.status, product.text]).toEqual([200, PRODUCT]);
  },
);
