import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createApi } from '../../deploy/local/people/api.ts';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Vendor,
} from '../../deploy/local/people/people.ts';
import { linkToken } from '../../deploy/local/people/sign-in.ts';
import { startBrowser } from '../support/browser.ts';
import { installSdk } from '../support/sdk-package.ts';
import { runningStack } from '../support/stack.ts';

/**
 * The packed SDK in real Chromium, in a page and in a worker of it, as modules and without a bundler. The page stands
 * at the gateway's own origin under a name that browsers take for secure; its files come from the test.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const origin = `http://localhost:${new URL(stack.gateway_url).port}`;

let browser: Browser;
let sdk: Awaited<ReturnType<typeof installSdk>>;
let vendor: Vendor;
let consumer: Consumer;
beforeAll(async () => {
  [browser, sdk, vendor, consumer] = await Promise.all([
    startBrowser(),
    installSdk(),
    createVendor(api, stack),
    createConsumer(api, stack),
  ]);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  sdk?.remove();
});

/** What the page and the worker import. */
const SCENE = `
  import * as sdk from '/sdk/dist/main.js';
  import { pay } from '/sdk-payment.mjs';
  const signedIn = (baseUrl) => sdk.createClient({ baseUrl, credential: sdk.cookieTokens('test') });
  const scene = {
    signIn: async ({ baseUrl, token }) => {
      const session = await signedIn(baseUrl).identity.verifyMagicLink({ token, refresh_in: 'cookie' });
      return { email: session.account.email, given: Object.keys(session) };
    },
    whoAmI: async ({ baseUrl }) => (await signedIn(baseUrl).identity.getAccount()).email,
    pay: (settings) => pay(sdk, settings, sdk.cookieTokens('test')),
    signOut: ({ baseUrl }) => signedIn(baseUrl).identity.logout(),
    refused: ({ baseUrl }) => signedIn(baseUrl).identity.getAccount().catch(({ code }) => code),
  };
  export const run = (name, settings) => scene[name](settings);
`;
const WORKER = `
  import { run } from '/scene.js';
  onmessage = async ({ data: [name, settings] }) => {
    try { postMessage({ said: await run(name, settings), inWorker: typeof document === 'undefined' }); }
    catch (error) { postMessage({ failed: String(error) }); }
  };
  postMessage('ready');
`;

const newContext = async (): Promise<BrowserContext> => {
  const context = await browser.newContext();
  const script = (body: string) => ({ contentType: 'text/javascript', body });
  await context.route(`${origin}/page`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Shop</title>' }),
  );
  await context.route(`${origin}/scene.js`, (route) => route.fulfill(script(SCENE)));
  await context.route(`${origin}/worker.js`, (route) => route.fulfill(script(WORKER)));
  await context.route(`${origin}/sdk-payment.mjs`, (route) =>
    route.fulfill(script(readFileSync(path.join(import.meta.dirname, '../support/sdk-payment.mjs'), 'utf8'))),
  );
  await context.route(`${origin}/sdk/**`, (route) => {
    const file = new URL(route.request().url()).pathname.replace('/sdk/', '');
    return route.fulfill(script(readFileSync(path.join(sdk.installed, file), 'utf8')));
  });
  return context;
};
const open = async (context: BrowserContext): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(`${origin}/page`);
  return page;
};

type Answer = { said?: unknown; failed?: string; inWorker?: boolean };
const inPage = (page: Page, name: string, settings: object = {}) =>
  page.evaluate(`import('/scene.js').then(({ run }) =>
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
};

test('a page signs in, pays, is still signed in after a reload and in a worker, and signs out', async () => {
  const context = await newContext();
  const page = await open(context);
  const { email } = consumer.signIn.account;
  const settings = { apiKey: vendor.apiKey, serviceId: vendor.serviceId };
  expect(await inPage(page, 'refused')).toBe('unauthorized');
  const session = await inPage(page, 'signIn', { token: await mailedToken(email) });
  expect(session).toEqual({ email, given: expect.not.arrayContaining(['refresh_token']) });
  // No script of the page can read it, wherever a page may keep things.
  expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).toBe('{}');
  expect(await inPage(page, 'pay', settings)).toMatchObject(paid);

  await page.reload();
  expect(await inPage(page, 'whoAmI')).toBe(email);
  expect(await inWorker(page, 'whoAmI')).toEqual({ said: email, inWorker: true });
  expect(await inWorker(page, 'pay', settings)).toMatchObject({ said: paid, inWorker: true });
  // Pages and workers that need a token at the same time do not take each other for thieves.
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
}, 60_000);
