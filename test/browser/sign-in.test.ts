import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { createApi } from '../../deploy/local/people/api.ts';
import { createVendor } from '../../deploy/local/people/people.ts';
import { linkToken } from '../../deploy/local/people/sign-in.ts';
import { startBrowser } from '../support/browser.ts';
import { runningStack } from '../support/stack.ts';

/** The pages behind mailed links, in real Chromium: what a mail scanner with a browser would do, and a person. */
const stack = runningStack();
const api = createApi(stack.gateway_url);

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
}, 60_000);
afterAll(() => browser?.close());

const newLink = async () => {
  const email = `link-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const since = Date.now();
  await api('POST /v1/auth/magic-link', { body: { email, environment: 'test' } });
  const token = await linkToken(stack.mail_url, email, 'test', since);
  return { email, url: `${stack.gateway_url}/sign-in#token=${token}`, token };
};
/** The link to a new key that this address was mailed since. */
const revealLink = async (email: string, since: number): Promise<string> => {
  for (let tries = 0; tries < 200; tries += 1) {
    const response = await fetch(`${stack.mail_url}/messages?to=${encodeURIComponent(email)}`);
    const messages = (await response.json()) as { text: string; received_at: string }[];
    const [link] = messages
      .filter(({ received_at }) => Date.parse(received_at) >= since)
      .flatMap(({ text }) => text.match(/\S+\/reveal\?\S+/) ?? []);
    if (link !== undefined) return link;
    await sleep(50);
  }
  throw new Error(`no link to a key arrived for ${email}`);
};
const visit = async (url: string): Promise<{ page: Page; asked: string[] }> => {
  const page = await browser.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(url, { waitUntil: 'networkidle' });
  return { page, asked };
};

test('opening the link uses nothing up and tells no server the token; the click signs in, once', async () => {
  const { email, url, token } = await newLink();
  for (const path of [`/v1/auth/magic-link/verify?token=${token}`, `/sign-in?token=${token}`]) {
    await fetch(stack.gateway_url + path);
  }
  const scanner = await visit(url);
  await scanner.page.close();

  const { page, asked } = await visit(url);
  expect(asked.filter((each) => each.includes(token) && !each.includes('#'))).toEqual([]);
  expect(page.url()).toBe(`${stack.gateway_url}/sign-in`);
  await page.click('#sign-in');
  await page.waitForSelector('#done:not([hidden])');
  expect(await page.textContent('#email')).toBe(email);
  await page.close();

  const again = await visit(url);
  await again.page.click('#sign-in');
  await again.page.waitForSelector('#failed:not([hidden])');
  expect(await again.page.textContent('#failed-title')).toBe('This link no longer works');
  await again.page.close();
});

test('the link to a new key: the click makes it, once, and shows whose and where', async () => {
  const { signIn, serviceId, apiKey } = await createVendor(api, stack);
  const since = Date.now();
  const token = signIn.access_token;
  expect((await api(`POST /v1/services/${serviceId}/key/reveal`, { token, body: {} })).status).toBeLessThan(
    300,
  );
  const url = await revealLink(signIn.account.email, since);
  const { page, asked } = await visit(url);
  expect(page.url()).toBe(`${stack.gateway_url}/reveal`);
  const secret = new URL(url).hash.slice('#token='.length);
  expect(asked.filter((each) => each.includes(secret) && !each.includes('#'))).toEqual([]);
  expect(await page.textContent('#ask')).toContain(serviceId);
  expect(await page.textContent('#environment')).toBe('It is for the test environment.');
  expect(await api('GET /v1/quotes', { token: apiKey })).toMatchObject({ status: 200 });

  await page.click('#reveal');
  await page.waitForSelector('#done:not([hidden])');
  const made = await page.inputValue('#api-key');
  expect(made).not.toBe(apiKey);
  expect(await api('GET /v1/quotes', { token: made })).toMatchObject({ status: 200 });
  await page.close();

  const again = await visit(url);
  await again.page.click('#reveal');
  await again.page.waitForSelector('#failed:not([hidden])');
  expect(await again.page.textContent('#failed-title')).toBe('This link no longer works');
  await again.page.close();
});

test('a page without its link, or with half of one, says so and asks nobody', async () => {
  for (const path of [
    '/sign-in',
    '/reveal',
    '/reveal#token=rv_test_a',
    '/reveal?service=../x#token=rv_test_a',
  ]) {
    const { page, asked } = await visit(`${stack.gateway_url}${path}`);
    await page.waitForSelector('#failed:not([hidden])');
    expect(await page.textContent('#failed-title')).toBe('Open the link from your mail');
    expect(asked.filter((each) => each.includes('/v1/'))).toEqual([]);
    await page.close();
  }
});
