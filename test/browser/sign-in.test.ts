import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { createApi } from '../../deploy/local/people/api.ts';
import { linkToken } from '../../deploy/local/people/sign-in.ts';
import { startBrowser } from '../support/browser.ts';
import { runningStack } from '../support/stack.ts';

/** The page behind the mailed link, in real Chromium: what a mail scanner with a browser would do, and a person. */
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
