import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { DELEGATE_KEY } from '../../../../test/support/base/keys.ts';
import { startBrowser } from '../../../../test/support/browser/browser.ts';
import {
  type Harness,
  KEYS,
  startHarness,
  tokenFor,
} from '../../../../test/support/stand-ins/scripted-vendors.ts';

/** `payingFetch` in a page of Chromium, to an API of another origin, beside plain fetch. */

/** What x402 middleware allows. It knows nothing of this system. */
const STOCK = 'content-type, payment-signature, x-payment';

let browser: Browser;
let page: Page;
let vendor: string;
let harness: Harness;
const seen: IncomingMessage[] = [];
const stops: (() => void)[] = [];

const listen = async (answer: (request: IncomingMessage, response: ServerResponse) => unknown) => {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

beforeAll(async () => {
  harness = await startHarness();
  const bundle = await build({
    entryPoints: [path.join(import.meta.dirname, '../main.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  const shop = await listen((request, response) => {
    const isScript = request.url === '/pay.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? bundle.outputFiles[0]!.text : '<!doctype html><title>Shop</title>');
  });
  vendor = await listen((request, response) => {
    seen.push(request);
    const { method, url, headers } = request;
    const cors: Record<string, string> = { 'access-control-allow-origin': '*' };
    if (method === 'OPTIONS' && url !== '/simple') cors['access-control-allow-headers'] = STOCK;
    if (url === '/paid' && method !== 'OPTIONS') {
      const body = { error: 'payment_required', quote_token: tokenFor(`http://${headers.host}/paid`) };
      return response.writeHead(402, cors).end(JSON.stringify(body));
    }
    return request
      .resume()
      .on('end', () => response.writeHead(200, cors).end(`${method} ${headers['content-type']}`));
  });
  browser = await startBrowser();
  harness.script.keys = () => ({
    status: 200,
    body: { keys: KEYS },
    headers: { 'access-control-allow-origin': '*' },
  });
  // Nothing is intercepted: Playwright would answer the preflights then.
  page = await (await browser.newContext()).newPage();
  await page.goto(shop);
});
afterAll(async () => {
  await browser?.close();
  for (const stop of stops) stop();
  await harness?.stop();
});

const ROWS = [
  ['GET', `[vendor + '/simple']`],
  ['a text', `[vendor + '/simple', { method: 'POST', body: 'text' }]`],
  ['parameters', `[vendor + '/simple', { method: 'POST', body: new URLSearchParams({ a: '1' }) }]`],
  [
    'JSON',
    `[vendor + '/json', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }]`,
  ],
  ['a blob', `[vendor + '/json', { method: 'POST', body: new Blob(['{}'], { type: 'application/json' }) }]`],
  ['a Request', `[new Request(vendor + '/simple', { method: 'POST', body: 'text', keepalive: true })]`],
  ['no-cors', `[vendor + '/simple', { mode: 'no-cors' }]`],
  ['credentials that are not allowed', `[vendor + '/simple', { credentials: 'include' }]`],
  ['a header that is not allowed', `[vendor + '/json', { headers: { 'x-a': '1' } }]`],
  ['an aborted signal', `[vendor + '/simple', { signal: AbortSignal.abort() }]`],
  ['no address', `['http://a:b:c']`],
] as const;

const inPage = (expression: string): Promise<unknown> =>
  page.evaluate(`(async () => {
    const { payingFetch } = await import('/pay.js');
    const vendor = ${JSON.stringify(vendor)};
    const outcome = (answer) => answer.then(
      async (response) => [response.status, response.type, response.url, await response.text()],
      ({ name, message }) => [name, message],
    );
    const options = { baseUrl: ${JSON.stringify(harness.api.baseUrl)}, delegateKey: '${DELEGATE_KEY}', maxAmount: 5000n };
    const pay = payingFetch((url, init) => fetch(url, init), { ...options, allow: { origins: [vendor] } });
    return ${expression};
  })()`);

test.each(ROWS)('%s: the outcome is that of plain fetch', async (_name, args) => {
  const [plain, paying] = (await inPage(`Promise.all([
    outcome((async () => fetch(...${args}))()), outcome((async () => pay(...${args}))())
  ])`)) as unknown[];
  expect(paying).toEqual(plain);
});

test('a vendor whose CORS lacks the headers of a payment is not paid, and the error names them', async () => {
  const [name, message] = (await inPage(`outcome(pay(vendor + '/paid'))`)) as string[];
  expect(name).toBe('PaymentBlockedError');
  expect(message).toContain("The vendor's CORS must allow PAYMENT_HEADERS");
  expect(harness.paid()).toEqual([]);
  expect(seen.some(({ method, headers }) => method === 'GET' && 'x-payment-request-id' in headers)).toBe(
    false,
  );
});
