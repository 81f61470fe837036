import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { type Consumer, createConsumer, createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { linkToken } from '../../deploy/local/seed/sign-in.ts';
import { newId } from '../../shared/lib/id.ts';
import { signAccessToken } from '../../shared/lib/tokens/access-token.ts';
import { browserOfSuite } from '../support/browser/browser-suite.ts';
import { newSigningKey, startGatewayFixture } from '../support/fixtures/gateway.ts';
import { type InstalledPackage, packages } from '../support/packages/packages.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The packed SDK in real Chromium, in a page and in a worker, as modules and without a bundler. The
 * page is at the gateway's origin under a name that browsers consider secure. The test serves its
 * files.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const origin = `http://localhost:${new URL(stack.gateway_url).port}`;

const browser = browserOfSuite();
let sdk: InstalledPackage;
let vendor: Vendor;
let consumer: Consumer;
beforeAll(async () => {
  sdk = (await packages()).install('sdk');
  [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
});
afterAll(() => sdk?.remove());

/** The imports of the page and the worker. */
const ACTIONS = `
  import * as sdk from '/sdk/dist/main.js';
  import { pay } from '/sdk-payment.mjs';
  const signedIn = (baseUrl) => sdk.createClient({ baseUrl, credential: sdk.cookieTokens('test') });
  const actions = {
    signIn: async ({ baseUrl, token }) => {
      const { email } = await signedIn(baseUrl).identity.readMagicLink({ token });
      const session = await signedIn(baseUrl).identity.verifyMagicLink({ token, email, refresh_in: 'cookie' });
      return { email: session.account.email, given: Object.keys(session) };
    },
    whoAmI: async ({ baseUrl }) => (await signedIn(baseUrl).identity.getAccount()).email,
    pay: (settings) => pay(sdk, settings, sdk.cookieTokens('test')),
    signOut: ({ baseUrl }) => signedIn(baseUrl).identity.logout(),
    refused: ({ baseUrl }) => signedIn(baseUrl).identity.getAccount().catch(({ code }) => code),
  };
  export const run = (name, settings) => actions[name](settings);
`;
const WORKER = `
  import { run } from '/gateway.js';
  onmessage = async ({ data: [name, settings] }) => {
    try { postMessage({ said: await run(name, settings), inWorker: typeof document === 'undefined' }); }
    catch (error) { postMessage({ failed: String(error) }); }
  };
  postMessage('ready');
`;

/** The files of the shop; null for any other path. */
const fileOf = (pathname: string): { contentType: string; body: string } | null => {
  const script = (body: string) => ({ contentType: 'text/javascript', body });
  const read = (...parts: string[]) => script(readFileSync(path.join(...parts), 'utf8'));
  if (pathname === '/page') return { contentType: 'text/html', body: '<!doctype html><title>Shop</title>' };
  if (pathname === '/gateway.js') return script(ACTIONS);
  if (pathname === '/worker.js') return script(WORKER);
  if (pathname === '/sdk-payment.mjs') return read(import.meta.dirname, '../support/actors/sdk-payment.mjs');
  return pathname.startsWith('/sdk/') ? read(sdk.installed, pathname.slice('/sdk/'.length)) : null;
};
/** A browser in which the gateway's origin also has the shop's files. */
const newContext = async (): Promise<BrowserContext> => {
  const context = await browser().newContext();
  await context.route(`${origin}/**`, (route) => {
    const file = fileOf(new URL(route.request().url()).pathname);
    return file === null ? route.continue() : route.fulfill(file);
  });
  return context;
};
const open = async (context: BrowserContext, at = origin): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(`${at}/page`);
  return page;
};

type Answer = { said?: unknown; failed?: string; inWorker?: boolean };
const inPage = (page: Page, name: string, settings: object = {}) =>
  page.evaluate(`import('/gateway.js').then(({ run }) =>
    run(...${JSON.stringify([name, { baseUrl: origin, ...settings }])}))`);
const inWorker = (page: Page, name: string, settings: object = {}) =>
  page.evaluate<Answer>(`new Promise((resolve) => {
    const worker = new Worker('/worker.js', { type: 'module' });
    worker.onerror = ({ message }) => resolve({ failed: message });
    worker.onmessage = ({ data }) => {
      if (data !== 'ready') return resolve(data);
      worker.postMessage(${JSON.stringify([name, { baseUrl: origin, ...settings }])});
    };
  })`);

const mailedToken = async (email: string): Promise<string> => {
  const since = Date.now();
  await api('POST /v1/auth/magic-link', { body: { email, environment: 'test' } });
  return linkToken(stack.mail_url, email, 'test', since);
};
const paid = {
  paid: { status: 'confirmed', payment_attempt_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  redeemed: { status: 'redeemed', redeem_id: 'sdk', replayed: false },
  verified: 'redeemed',
  invalid: true,
  details: [{ path: 'service_id' }],
  webhooks: ['webhook.test', 'WebhookVerificationError'],
};

test('a page signs in, pays, stays signed in after a reload and in a worker, and signs out', async () => {
  const context = await newContext();
  const page = await open(context);
  const { email } = consumer.signIn.account;
  const settings = { apiKey: vendor.apiKey, serviceId: vendor.serviceId };
  expect(await inPage(page, 'refused')).toBe('unauthorized');
  const session = await inPage(page, 'signIn', { token: await mailedToken(email) });
  expect(session).toEqual({ email, given: expect.not.arrayContaining(['refresh_token']) });
  // No script of the page can read it, wherever pages store data.
  expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).toBe('{}');
  expect(await inPage(page, 'pay', settings)).toMatchObject(paid);

  await page.reload();
  expect(await inPage(page, 'whoAmI')).toBe(email);
  expect(await inWorker(page, 'whoAmI')).toEqual({ said: email, inWorker: true });
  expect(await inWorker(page, 'pay', settings)).toMatchObject({ said: paid, inWorker: true });
  // Pages and workers that need a token at the same time do not trigger the reuse detection.
  const others = await Promise.all([open(context), open(context)]);
  const names = await Promise.all([
    ...[page, ...others].map((each) => inPage(each, 'whoAmI')),
    ...others.map(async (each) => (await inWorker(each, 'whoAmI')).said),
  ]);
  expect(names).toEqual(Array(5).fill(email));
  expect(await inPage(page, 'whoAmI')).toBe(email);

  await inPage(page, 'signOut');
  expect(await inPage(page, 'refused')).toBe('unauthorized');
  expect((await inWorker(page, 'refused')).said).toBe('unauthorized');
  await context.close();
});

test('a page on another host of the same site uses the cookie when both settings name its origin', async () => {
  const session = newSigningKey('test.session.1');
  // The files are really served: a page that only the test answers counts as foreign to this
  // machine, and may not call it.
  const files = createServer((request, response) => {
    const file = fileOf(request.url ?? '');
    response.writeHead(file === null ? 404 : 200, { 'content-type': file?.contentType ?? 'text/plain' });
    response.end(file?.body);
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  const shop = `http://localhost:${(files.address() as AddressInfo).port}`;
  const account = { account_id: newId('acct'), email: 'ada@example.com' };
  const gateway = await startGatewayFixture({
    publicKeys: [session.entry],
    environments: ['test'],
    env: { BROWSER_ORIGINS: shop, CORS_ORIGINS: shop },
  });
  try {
    const exchanged: unknown[] = [];
    const give = async (n: number) => ({
      access_token: await signAccessToken(
        {
          accountId: account.account_id,
          sessionId: newId('ses'),
          environment: 'test',
          amr: ['email'],
          authTime: Math.floor(Date.now() / 1000),
          now: Date.now(),
        },
        session.signing,
      ),
      token_type: 'Bearer',
      expires_in: 900,
      refresh_token: `rt_test_${n}`,
      account,
    });
    gateway.services.answers['identity.readMagicLink'] = () => ({
      email: account.email,
      same_browser: true,
      continue_to: null,
    });
    gateway.services.answers['identity.verifyMagicLink'] = () => give(1);
    gateway.services.answers['identity.refresh'] = ({ refresh_token }) => {
      exchanged.push(refresh_token);
      return give(exchanged.length + 1);
    };
    gateway.services.answers['identity.getAccount'] = () => ({
      ...account,
      display_name: null,
      created_at: '2026-11-21T10:00:00.000Z',
    });
    const context = await browser().newContext();
    const page = await open(context, shop);
    const to = { baseUrl: `http://localhost:${gateway.gateway.port}` };
    await inPage(page, 'signIn', { ...to, token: 'ml_test_a' });
    expect(await inPage(page, 'whoAmI', to)).toBe(account.email);
    expect(await inWorker(page, 'whoAmI', to)).toEqual({ said: account.email, inWorker: true });
    expect(exchanged).toEqual(['rt_test_1', 'rt_test_2']);
    await context.close();
  } finally {
    files.closeAllConnections();
    files.close();
    await gateway.stop();
  }
});
