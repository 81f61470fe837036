import { expect, test } from '@jest/globals';
import { GUIDES } from '../../shared/contract/guides.ts';
import { contractList } from '../../shared/contract/index.ts';
import { operationId } from '../../shared/contract/openapi.ts';
import { TAGS } from '../../shared/contract/tags.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The documentation in real Chromium: navigation, search and reference. The pages of this suite
 * obey their policy and call no other origin.
 */
const stack = runningStack();
const { origin } = new URL(stack.console_url);
const suite = consoleSuite(stack);

/** What a reader asks, where the start page leads first, and what the answer says. */
const QUESTIONS: readonly [question: string, clicks: readonly string[], answer: RegExp][] = [
  ['a price on an Express route', ['Sell an API'], /paid\(paywall, \{ price: '\$0\.05' \}\)/],
  ['what a payment costs', ['What does a payment cost?'], /0\.05 USDC\s+0\.01\s+0\.04\s+20 %/],
  ['how to refund', ['How do I refund a buyer?'], /partiallySignTransaction/],
  ['a webhook in Python', ['How do I verify a webhook?'], /import base64|hmac/],
  ['a crash after the payment', ['My server crashed after the payment'], /deliveryId/],
  ['a budget for an agent', ['How does an agent get 5 USDC a day?'], /--daily 5[\s\S]*after a refusal/i],
  ['a prefix of a proxy', ['My API is behind a proxy'], /prefix removed/],
  ['CORS', ['Buyers in web pages, CORS'], /PAYMENT_HEADERS/],
  ['delegation_inactive', ['What does an error code mean?', 'delegation_inactive'], /allows no spending/],
  ['clients of x402', ['How do I accept x402 clients?'], /HTTPFacilitatorClient/],
  ['a failing payment', ['How do I test a failing payment?'], /1\.000103 USDC/],
  ['money to a bank', ['How do I get the money to a bank?'], /an exchange/],
  ['taxes', ['Taxes and invoices'], /merchant of record/],
  ['closing', ['Close my account, take my data'], /account export/],
  ['self-hosting', ['Run it myself'], /chain-submitter/],
];

test('every question is answered in at most two clicks from the start page', async () => {
  const { page } = await suite.opened();
  for (const [question, clicks, answer] of QUESTIONS) {
    await page.goto(`${origin}/`);
    for (const name of clicks)
      await page.locator('main').getByRole('link', { name, exact: true }).first().click();
    await page.waitForURL((url) => url.pathname !== '/');
    expect([question, answer.test(await page.locator('main').innerText()), clicks.length <= 2]).toEqual([
      question,
      true,
      true,
    ]);
  }
});

test('the side navigation leads to every guide, and each page to the next one', async () => {
  const { page } = await suite.opened();
  await page.goto(`${origin}/`);
  const side = page.getByRole('navigation', { name: 'Main' });
  for (const { name, title } of GUIDES) {
    // The reference has parts of the same names, further down.
    await side.getByRole('link', { name: title, exact: true }).first().click();
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/docs/guides/${name}`);
  }
  await page.goto(`${origin}/docs/guides/quickstart-vendor`);
  const { title } = GUIDES[GUIDES.findIndex(({ name }) => name === 'quickstart-vendor') + 1]!;
  await page.getByRole('link', { name: `Next ${title}` }).click();
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
});

test('the search finds guides, calls and error codes, by keyboard', async () => {
  const { page } = await suite.opened();
  const input = page.getByRole('combobox', { name: 'Search the documentation' });
  for (const [query, result, at] of [
    ['refund', /^Refunds Refunds/, '/docs/guides/refunds'],
    ['delegation_inac', /^Errors delegation_inactive/, '/docs/errors#delegation_inactive'],
    ['redeem a settlement', /^Sell an API Redeem a settlement/, '/docs/api/sell-an-api#redeem-a-settlement'],
    [
      'publicUrl proxy',
      /publicUrl is what buyers type/,
      '/docs/guides/proxies-and-browsers#publicurl-is-what-buyers-type',
    ],
  ] as const) {
    await page.goto(`${origin}/docs/guides`);
    await page.keyboard.press('ControlOrMeta+k');
    await input.fill(query);
    await page.getByRole('option').filter({ hasText: /./ }).first().waitFor();
    expect((await page.getByRole('option').first().innerText()).replaceAll('\n', ' ')).toMatch(result);
    await page.keyboard.press('Enter');
    await page.waitForURL(origin + at);
  }
  await page.keyboard.press('/');
  await input.fill('xyzzyplugh');
  await page.getByText('Nothing found for “xyzzyplugh”').waitFor();
  await page.keyboard.press('Escape');
  await input.waitFor({ state: 'hidden' });
});

test('the reference has every operation with samples in three languages, of which one is shown', async () => {
  const { page } = await suite.opened();
  const summaries = new Map(
    contractList.flatMap(({ name: service, operations }) =>
      Object.entries(operations).map(([name, { summary }]) => [operationId(service, name), summary]),
    ),
  );
  await page.goto(stack.docs_url.replace(new URL(stack.docs_url).origin, origin));
  for (const { name, operations } of TAGS) {
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true });
    await link.last().click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    const shown = new Set(await page.getByRole('heading', { level: 2 }).allInnerTexts());
    expect(operations.filter((id) => !shown.has(summaries.get(id)!))).toEqual([]);
  }
  await page.goto(`${origin}/docs/api/pay#settle-a-quote`);
  const samples = page.locator('code-tabs').first();
  expect(await samples.innerText()).toContain('Authorization: Bearer $DELEGATE_KEY');
  await samples.getByRole('tab', { name: 'TypeScript' }).click();
  expect(await samples.innerText()).toMatch(/client\.settlement\.settle/);
  expect(await samples.innerText()).not.toContain('Authorization');
  // The choice counts for the other samples, and on the next page.
  await page.reload();
  expect(await page.locator('code-tabs').last().innerText()).toContain('createClient');
});

test('a page and a snippet are copied as text, with the address of this gateway', async () => {
  const opened = await suite.opened();
  await opened.page.goto(`${origin}/docs/guides/quickstart-vendor`);
  const copied = await opened.copied(opened.page.getByRole('button', { name: 'Copy page' }));
  expect(copied).toMatch(/^# Sell an API\n/);
  expect(copied).toContain(`export QUITTANCE_URL=${new URL(stack.gateway_url).origin}\n`);
  const first = opened.page.locator('.expressive-code').first();
  await first.hover();
  expect(await opened.copied(first.getByRole('button'))).toContain('export SERVICE_ID=…');
});

test('a line of 80 columns of code is not cut, in the typeface of the console', async () => {
  const { page } = await suite.opened();
  for (const name of ['quickstart-vendor', 'llm-by-tokens', 'python', 'metered', 'webhooks', 'gate']) {
    await page.goto(`${origin}/docs/guides/${name}`);
    const cut = await page.evaluate<string[]>(`[...document.querySelectorAll('pre')]
      .filter((block) => block.scrollWidth > block.clientWidth)
      .map((block) => block.innerText)
      .filter((text) => text.split('\\n').every((line) => line.length <= 80))`);
    expect([name, cut]).toEqual([name, []]);
  }
  const loaded = "document.fonts.load('1rem ' + getComputedStyle(document.body).fontFamily)";
  expect(
    await page.evaluate<string>(`${loaded}.then((faces) => faces.map(({ family }) => family).join())`),
  ).toBe('Inter');
});

test('the calculator shows what is left by each way, and says what is wrong with a price', async () => {
  const { page } = await suite.opened();
  await page.goto(`${origin}/docs/guides/pricing`);
  const shown = page.locator('price-calculator');
  await shown.getByText('500.00 USDC of sales. Most is left by: Pack of 100 calls.').waitFor();
  const tab = shown.getByRole('row', { name: /^Tab/ });
  expect((await tab.innerText()).replaceAll(/\s+/g, ' ')).toMatch(/ 100 2\.50 497\.50 \(99\.5 %\)$/);
  await shown.getByLabel('Price of a call').fill('0.002');
  await shown.getByText('Most is left by: Tab.').waitFor();
  await shown.getByText('a price must exceed its fee of 0.01 USDC').waitFor();
  await shown.getByLabel('Price of a call').fill('0,05');
  await shown.getByText("Price: write '$0.05', '0.05' or '0.05 USDC'.").waitFor();
  await shown.getByLabel('Price of a call').fill('0.05');
  await shown.getByLabel('Buyers').fill('none');
  await shown.getByText('Calls and buyers are whole numbers').waitFor();
});

test('the theme of the reader is kept', async () => {
  const { page } = await suite.opened({ colours: 'light' });
  await page.goto(`${origin}/docs`);
  await page.getByLabel('Select theme').first().selectOption('dark');
  await page.goto(`${origin}/docs/errors`);
  expect(await page.evaluate<string>('document.documentElement.dataset.theme')).toBe('dark');
});
