import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import bs58 from 'bs58';
import express from 'express';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { type Api, createApi } from '../../deploy/local/seed/api.ts';
import { payingFetch } from '../../sdk/src/pay/main.ts';
import { paid } from '../../sdk/src/paywall/adapters/express.ts';
import { mpp } from '../../sdk/src/paywall/dialects/mpp.ts';
import { x402 } from '../../sdk/src/paywall/dialects/x402.ts';
import { createPaywall, memoryStore, type PaywallEvent } from '../../sdk/src/paywall/main.ts';
import { INSTALL_MS, runInterop } from '../support/others/interop.ts';
import { runningStack, tally } from '../support/servers/stack.ts';

/**
 * One 402 of our paywall, which four clients pay: ours, and the unmodified ones of x402 version 2,
 * x402 version 1 and MPP.
 */
const PRICE = 50_000n;
const SECRET = 'the secret of offers, at least 32';
const stack = runningStack();
let api: Api;
let vendor: Vendor;
let server: Server;
let url: string;
let rpcUrl: string;
const events: PaywallEvent[] = [];
const deliveries: string[] = [];

/** What a vendor of MPP publishes about its routes (docs/x402.md). */
const DISCOVERY = {
  openapi: '3.1.0',
  info: { title: 'Reports', version: '1.0.0' },
  paths: {
    '/report': {
      get: {
        summary: 'A report',
        'x-payment-info': {
          offers: [{ method: 'solana', intent: 'charge', amount: String(PRICE), currency: 'USDC' }],
        },
        responses: { 200: { description: 'The report' }, 402: { description: 'Payment Required' } },
      },
    },
  },
};

/** A wallet with a token account and 100 USDC. */
const newBuyer = (): Promise<Consumer> => createConsumer(api, stack);
const base64 = ({ wallet }: Consumer) => Buffer.from(wallet.secretKey).toString('base64');

beforeAll(async () => {
  api = createApi(stack.gateway_url);
  rpcUrl = stack.environments.test!.rpc_url;
  // A payment of another client needs the token account of its payee.
  const { wallet: payout } = await createConsumer(api, stack, { balance: 1n, allowance: 0n });
  vendor = await createVendor(api, stack, { payout });
  const app = express();
  server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paywall = createPaywall({
    baseUrl: stack.gateway_url,
    serviceKey: vendor.apiKey,
    serviceId: vendor.serviceId,
    environment: 'test',
    publicUrl,
    store: memoryStore(),
    dialects: [x402({ secret: SECRET, v1: true }), mpp({ secret: SECRET })],
    log: (event) => events.push(event),
  });
  const route = paid(paywall, { price: String(PRICE) });
  app.all('/report', route, (request, response) => {
    deliveries.push('report');
    const { body, headers } = request;
    const sent = body === undefined ? {} : { sent: Buffer.from(body).toString(), by: headers.authorization };
    response.json({ delivery: deliveries.length, ...sent });
  });
  app.get('/openapi.json', (_request, response) => response.json(DISCOVERY));
  app.get('/llms.txt', (_request, response) =>
    response.type('text/plain').send('GET /report costs 0.05 USDC.'),
  );
  url = `${publicUrl}/report`;
}, INSTALL_MS);
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
});

const errors = () => events.filter(({ event }) => event === 'error');

test(
  'each of four clients pays the same route',
  async () => {
    const [ours, v2, v1, machine] = await Promise.all([newBuyer(), newBuyer(), newBuyer(), newBuyer()]);
    const { api_key } = await createDelegate(api, ours, { daily: '90000000' });
    const pay = payingFetch(fetch, {
      baseUrl: stack.gateway_url,
      delegateKey: api_key,
      maxAmount: PRICE,
    });
    expect((await pay(url)).status).toBe(200);
    const secretV1 = bs58.encode(v1.wallet.secretKey);
    const results = [
      ...(await runInterop('buyer', { url, rpcUrl, secretKey: base64(v2) })),
      ...(await runInterop('buyer-v1', { url, rpcUrl, secretKey: secretV1, network: 'solana-devnet' })),
      ...(await runInterop('buyer-mpp', { url, rpcUrl, secretKey: base64(machine) })),
    ];
    expect(results).toMatchObject([
      { status: 200, receipt: { success: true, amount: String(PRICE) } },
      { status: 200, receipt: { success: true, network: 'solana-devnet' } },
      { status: 200, receipt: { status: 'success', method: 'solana' } },
    ]);
    expect([deliveries.length, errors()]).toEqual([4, []]);
  },
  INSTALL_MS,
);

test.each([
  ['buyer', 24],
  ['buyer-mpp', 64],
] as const)(
  '%s pays %d times at once, each payment gets one delivery',
  async (name, times) => {
    const before = deliveries.length;
    const secretKey = base64(await newBuyer());
    const results = await runInterop(name, { url, rpcUrl, secretKey, times, parallel: true });
    expect(tally(results.map(({ status }) => status))).toEqual({ 200: times });
    const numbers = results.map(({ body }) => (body as { delivery: number }).delivery);
    expect(new Set(numbers).size).toBe(times);
    expect(deliveries.length - before).toBe(times);
    expect(errors()).toEqual([]);
  },
  INSTALL_MS,
);

test(
  'an unmodified client of MPP pays for a request with a body and credentials of its own',
  async () => {
    const init = { method: 'POST', body: '{"city":"Bern"}', headers: { authorization: 'Bearer mine' } };
    const secretKey = base64(await newBuyer());
    const results = await runInterop('buyer-mpp', { url, rpcUrl, secretKey, init });
    expect(results).toMatchObject([
      {
        status: 200,
        body: { sent: init.body, by: 'Bearer mine' },
        receipt: { status: 'success', method: 'solana' },
      },
    ]);
  },
  INSTALL_MS,
);

type Check = { label: string; severity: string; detail?: string };
type Validated = {
  code: number;
  found: {
    discovery: { checks: Check[] };
    endpoints: Record<'challenge' | 'errorHandling' | 'payment', Check[]>[];
    summary: { passed: number; failed: number; warnings: number; suggested: number; skipped: number };
  };
};

test(
  'mppx validate finds nothing wrong with the route, its errors and the document of the vendor',
  async () => {
    const { origin } = new URL(url);
    const [{ code, found }] = (await runInterop<Validated>('validate-mpp', { args: [origin] })) as [
      Validated,
    ];
    const { discovery, endpoints, summary } = found;
    const all = [
      ...discovery.checks,
      ...endpoints.flatMap(({ challenge, errorHandling, payment }) => [
        ...challenge,
        ...errorHandling,
        ...payment,
      ]),
    ];
    expect(all.filter(({ severity }) => severity !== 'pass')).toEqual([]);
    expect([code, summary.failed, endpoints.length]).toEqual([0, 0, 1]);
    expect(all.map(({ label }) => label)).toEqual(expect.arrayContaining(PASSED));
  },
  INSTALL_MS,
);
/** The command has no payment of Solana, so it goes as far as the answer to a broken credential. */
const PASSED = [
  'Valid OpenAPI structure',
  'Paid endpoints found',
  'Returns 402 without credentials',
  'x402 payment challenge',
  'Challenge parseable',
  'Challenge has id',
  'Challenge has realm',
  'Challenge expires in the future',
  'Realm matches server hostname',
  'Malformed credential returns 402',
  'Error response includes fresh challenge',
];

test(
  'a buyer without funds gets 402, and nothing is delivered',
  async () => {
    const before = deliveries.length;
    const poor = await createConsumer(api, stack, { balance: 1n, allowance: 0n });
    for (const name of ['buyer', 'buyer-mpp'] as const)
      expect(await runInterop(name, { url, rpcUrl, secretKey: base64(poor) })).toMatchObject([
        { status: 402 },
      ]);
    expect(deliveries).toHaveLength(before);
  },
  INSTALL_MS,
);
