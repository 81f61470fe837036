import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import { DELEGATE_KEY } from '../../../../test/support/base/keys.ts';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import { startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import { type ExpressRequest, paid } from '../../paywall/adapters/express.ts';
import { type MeteredRoute, meterOf } from '../../paywall/main.ts';
import { type PayOptions, PriceAboveCapError, payingFetch, receiptOf, usageOf } from '../main.ts';

/** The paying fetch with vendors whose buyers pay for what they used. */
let api: VendorApi;
let stops: (() => void)[] = [];
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  for (const stop of stops) stop();
  stops = [];
  await api.stop();
});

type Handler = express.RequestHandler;
type Routes = Record<string, { route: MeteredRoute<ExpressRequest>; handler?: Handler }>;

/** A vendor with Express. */
const start = async (routes: Routes) => {
  const app = express();
  const server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paywall = api.paywall({ publicUrl: origin });
  const runs: Record<string, number> = {};
  for (const [path, { route, handler }] of Object.entries(routes))
    app.all(
      path,
      paid(paywall, route),
      (_request, _response, next) => {
        runs[path] = (runs[path] ?? 0) + 1;
        next();
      },
      handler ?? ((_request, response) => void response.json({ tokens: 120 })),
    );
  return { origin, paywall, runs };
};
const payer = (options: Partial<PayOptions> = {}) =>
  payingFetch(fetch, { baseUrl: api.baseUrl, delegateKey: DELEGATE_KEY, maxAmount: '$1', ...options });
const helds = () => [...api.authorizations.values()];
const TAB: MeteredRoute<ExpressRequest> = { max: '$0.50', price: '$0.0005', tab: true };

test('one tab serves all calls to an address, shows what each has cost, and is captured once', async () => {
  const { origin, runs } = await start({ '/search': { route: TAB } });
  const pay = payer();
  const first = await pay(`${origin}/search?q=0`);
  expect(receiptOf(first)).toMatchObject({ amountMicro: '500000', authorized: true, confirmed: false });
  const [id] = api.authorizations.keys();
  for (let call = 1; call < 50; call += 1) {
    const answer = await pay(`${origin}/search?q=${call}`);
    expect([answer.status, receiptOf(answer)]).toEqual([200, null]);
    expect(usageOf(answer)).toEqual({
      ...{ settlementId: id, chargedMicro: '500' },
      leftMicro: String(500_000 - 500 * (call + 1)),
      leastMicro: null,
    });
  }
  await pay.closeTabs();
  expect(helds().map(({ status, used }) => [status, used])).toEqual([['captured', 25_000n]]);
  expect(runs['/search']).toBe(50);
});

test('the next tab follows one that is used up, and no call fails', async () => {
  const { origin } = await start({ '/search': { route: { ...TAB, max: '$0.02' } } });
  const pay = payer();
  for (let call = 0; call < 100; call += 1)
    expect((await pay(`${origin}/search?q=${call}`)).status).toBe(200);
  await pay.closeTabs();
  const sums = helds().map(({ used }) => used);
  expect(sums).toEqual([20_000n, 20_000n, 10_000n]);
});

test('concurrent calls share one tab', async () => {
  const { origin } = await start({ '/search': { route: TAB } });
  const pay = payer();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, call) => pay(`${origin}/search?q=${call}`)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  await pay.closeTabs();
  expect(helds().map(({ used }) => used)).toEqual([10_000n]);
});

test('the ceilings that are open are at most maxAmount: another tab is ended for a new one', async () => {
  const { origin } = await start({ '/one': { route: TAB }, '/other': { route: TAB } });
  const pay = payer({ maxAmount: '$0.70' });
  for (let call = 0; call < 30; call += 1) await pay(`${origin}/one?q=${call}`);
  await pay(`${origin}/other`);
  expect(helds().map(({ status }) => status)).toEqual(['captured', 'authorized']);
  await pay.closeTabs();
  await expect(payer({ maxAmount: '$0.40' })(`${origin}/one`)).rejects.toThrow(PriceAboveCapError);
});

test('a payer hears once of each tab that has ended, also of one that the API has ended', async () => {
  const { origin } = await start({ '/one': { route: TAB } });
  const ended: unknown[] = [];
  const pay = payer({ onTabEnded: (tab: object) => ended.push(tab) });
  await pay(`${origin}/one?q=1`);
  const [id, held] = [...api.authorizations][0]!;
  Object.assign(held, { status: 'captured', captured: 40_000n });
  // The vendor learns it by its next report of use.
  let call = 1;
  await waitUntil(async () => {
    call += 1;
    await (await pay(`${origin}/one?q=${call}`)).text();
    return ended.length > 0;
  });
  expect(ended).toEqual([{ settlementId: id, url: `${origin}/one?q=1`, paidMicro: '40000' }]);
  await pay.closeTabs();
  await waitUntil(() => ended.length === 2);
});

test('a vendor that asks for one tab after another, and ends none, gets no more than maxAmount', async () => {
  const { origin } = await start({ '/search': { route: TAB } });
  let asked = 0;
  const forgetful: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    if (headers.has('x-tab-close')) return new Response(null, { status: 202 });
    if (String(input).startsWith(api.baseUrl)) return fetch(input, init);
    asked += 1;
    headers.delete('x-settlement-id');
    return fetch(input, { ...init, headers });
  };
  const pay = payingFetch(forgetful, { baseUrl: api.baseUrl, delegateKey: DELEGATE_KEY, maxAmount: '$1' });
  for (let call = 0; call < 4; call += 1)
    await pay(`${origin}/search?q=${call}`).catch((error: unknown) => error);
  expect(asked).toBeGreaterThan(4);
  expect(helds().length).toBeLessThanOrEqual(2);
});

test('a call without a tab authorizes, pays what it used, and counts that in the budget', async () => {
  const route: MeteredRoute<ExpressRequest> = {
    max: '$0.50',
    price: ({ json }) => BigInt(json().tokens) * 1000n,
  };
  const { origin } = await start({ '/chat': { route } });
  const pay = payer({ budget: { total: '$0.75' } });
  for (let call = 0; call < 3; call += 1) {
    const answer = await pay(`${origin}/chat?q=${call}`);
    expect(await answer.json()).toEqual({ tokens: 120 });
    expect(usageOf(answer)).toMatchObject({ chargedMicro: '120000', leftMicro: null });
  }
  await waitUntil(() => helds().every(({ status, used }) => status === 'captured' && used === 120_000n));
  await expect(pay(`${origin}/chat?q=4`)).rejects.toThrow('would exceed budget.total');
});

test('a call whose handler has failed is repeated with a new authorization, and the first is void', async () => {
  let runs = 0;
  const handler: Handler = (request, response) => {
    runs += 1;
    meterOf(request).charge('$0.10');
    if (runs === 1) response.status(503).end();
    else response.json({ runs });
  };
  const { origin } = await start({ '/chat': { route: { max: '$0.50' }, handler } });
  const pay = payer();
  expect((await pay(`${origin}/chat`)).status).toBe(503);
  const again = await pay(`${origin}/chat`);
  expect([again.status, usageOf(again)?.chargedMicro]).toEqual([200, '100000']);
  await waitUntil(() => helds().at(-1)!.status === 'captured');
  expect(helds().map(({ status, used }) => [status, used])).toEqual([
    ['voided', 0n],
    ['captured', 100_000n],
  ]);
});

test('a stream of events of Express is charged while it runs, and until its buyer leaves', async () => {
  const handler: Handler = async (request, response) => {
    const meter = meterOf(request);
    response.setHeader('content-type', 'text/event-stream');
    response.flushHeaders();
    for (let sent = 0; sent < 1000 && !meter.signal.aborted; sent += 1) {
      meter.charge('$0.001');
      response.write(`data: ${sent}\n\n`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    response.end();
  };
  const { origin } = await start({ '/chat': { route: { max: '$0.50' }, handler } });
  const pay = payer();
  const whole = await pay(`${origin}/chat?whole`);
  const text = await whole.text();
  expect(text).toContain('data: 499\n\n');
  expect(text).toMatch(
    /event: quittance-stopped\ndata: \{"reason":"used_up","usage":"charged=500000"\}\n\n$/,
  );
  expect(usageOf(whole)).toMatchObject({ chargedMicro: '500000', leftMicro: null });
  const controller = new AbortController();
  const left = await pay(`${origin}/chat?left`, { signal: controller.signal });
  const reader = left.body!.getReader();
  for (let size = 0; size < 200; ) size += (await reader.read()).value!.length;
  controller.abort();
  await waitUntil(() => helds().every(({ status }) => status === 'captured'));
  const [first, second] = helds().map(({ used }) => used);
  expect(first).toBe(500_000n);
  expect(second).toBeGreaterThanOrEqual(15_000n);
  expect(second).toBeLessThan(500_000n);
});
