import { serve } from '@hono/node-server';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { payingFetch } from '../../sdk/src/pay/main.ts';
import {
  createPaywall,
  memoryStore,
  type PaywallEvent,
  type PaywallOptions,
} from '../../sdk/src/paywall/main.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The mistakes of a new vendor, and what the log of the paywall and the buyer say, over the API.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

let vendor: Vendor;
let delegate: Delegate;
const ports = createPortPicker();
const stops: (() => void)[] = [];
beforeAll(async () => {
  const [made, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
  vendor = made;
  delegate = await createDelegate(api, consumer, { daily: '90000000' });
});
afterAll(() => {
  for (const stop of stops) stop();
});

/** A shop behind a proxy that removes `/api`, which the paywall may not know. */
const startShop = async (options: Partial<PaywallOptions> = {}, price = '$0.05') => {
  const log: PaywallEvent[] = [];
  const port = await ports.any();
  const origin = `http://127.0.0.1:${port}`;
  const paywall = createPaywall({
    baseUrl: stack.gateway_url,
    serviceKey: vendor.apiKey,
    serviceId: vendor.serviceId,
    environment: 'test',
    publicUrl: origin,
    store: memoryStore(),
    log: (event) => log.push(event),
    ...options,
  });
  const sold = paywall.protect({ price }, () => Response.json({ report: 'All is well' }));
  const fetch = (request: Request) =>
    sold(new Request(request.url.replace('/api/', '/'), { headers: request.headers }));
  const server = serve({ fetch, hostname: '127.0.0.1', port });
  stops.push(() => void server.close());
  const pay = payingFetch(globalThis.fetch, {
    baseUrl: stack.gateway_url,
    delegateKey: delegate.api_key,
    maxAmount: '0.05 USDC',
  });
  const said = () => log.filter(({ event }) => event === 'error').map(({ message }) => message);
  return { origin, pay, said };
};

test('a service id of somebody else: the log names it', async () => {
  const serviceId = crypto.randomUUID();
  const { origin, said } = await startShop({ serviceId });
  expect((await fetch(`${origin}/report`)).status).toBe(503);
  expect(said()).toEqual([expect.stringContaining(`serviceId ${serviceId} is not a service of this key`)]);
});

test('a price that is not more than the fee: the log has both in USDC, and the least price', async () => {
  const { origin, said } = await startShop({}, '$0.005');
  expect((await fetch(`${origin}/report`)).status).toBe(503);
  expect(said()).toEqual([
    "price: 0.005 USDC is not more than the fee of 0.01 USDC, which you pay out of it; use at least '$0.010001'",
  ]);
});

test('a prefix that the proxy removes: the buyer reads both addresses and what to change', async () => {
  const { origin, pay } = await startShop();
  await expect(pay(`${origin}/api/report`)).rejects.toThrow(
    `The quote is for ${origin}/report, and ${origin}/api/report was called. If this is your vendor: its publicUrl must contain the prefix /api.`,
  );
  const right = await startShop();
  expect((await right.pay(`${right.origin}/report`)).status).toBe(200);
  expect(right.said()).toEqual([]);
});

test('another host in publicUrl: the vendor reads it too', async () => {
  const { origin, pay, said } = await startShop({ publicUrl: 'https://shop.example.com' });
  await expect(pay(`${origin}/report`)).rejects.toThrow(`its publicUrl must begin with ${origin}.`);
  expect(said()).toEqual([
    expect.stringContaining(
      `a request came to ${new URL(origin).host}, and its quote is for https://shop.example.com`,
    ),
  ]);
});

test('two processes with a store in memory each: the second one names the settlement, and the buyer what to do', async () => {
  const { origin: publicUrl } = await startShop();
  const other = await startShop({ publicUrl });
  // The first process has redeemed, and the answer was lost. The repeat reaches the other one.
  let isLost = false;
  const balancing = async (url: string, init?: RequestInit): Promise<Response> => {
    const isPaid = new Headers(init?.headers).has('x-settlement-token');
    if (!isPaid || !url.startsWith(publicUrl)) return fetch(url, init);
    if (isLost) return fetch(url.replace(publicUrl, other.origin), init);
    isLost = true;
    await fetch(url, init);
    throw new TypeError('fetch failed');
  };
  const pay = payingFetch(balancing, {
    baseUrl: stack.gateway_url,
    delegateKey: delegate.api_key,
    maxAmount: '$0.05',
  });
  await expect(pay(`${publicUrl}/report`)).rejects.toThrow('fetch failed');
  await expect(pay(`${publicUrl}/report`)).rejects.toThrow(
    /does not accept the payment\. Repeat the call: .* name settlement stl_\w+ to the vendor/,
  );
  expect(other.said()).toContainEqual(
    expect.stringMatching(
      /^settlement stl_\w+ was redeemed by another process.*need a store that they share/,
    ),
  );
});
