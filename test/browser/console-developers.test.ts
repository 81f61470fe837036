import { expect, test } from '@jest/globals';
import { createConsumer, createVendor, quoteOf, settleWith } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { waitUntil } from '../support/base/wait.ts';
import { signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/** The page for developers: its documents exist, and events appear by themselves. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const { opened } = consoleSuite(stack);

test('every document that it links to exists, and the state of the system is shown', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  await page.go('/developers');
  await page.page.getByText('operational').waitFor();
  const links = await page.page
    .locator('.documents a')
    .evaluateAll((all) => all.map((link) => (link as unknown as { href: string }).href));
  expect(links).toHaveLength(8);
  for (const href of links) {
    const { pathname } = new URL(href);
    expect([pathname, (await fetch(`${stack.gateway_url}${pathname}`)).status]).toEqual([pathname, 200]);
  }
  expect(await page.page.textContent('main')).toContain(
    `quittance login --url ${new URL(stack.console_url).origin}`,
  );
  await page.shoot('developers');
  expect(await page.findings()).toEqual([]);
});

test('an event appears by itself with its payload, on a phone in dark colours too', async () => {
  const email = `seller-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const vendor = await createVendor(api, stack, { email });
  const consumer = await createConsumer(api, stack);
  const page = await opened({
    person: await signInPerson(stack, { email }),
    width: 'phone',
    colours: 'dark',
  });
  await page.go('/developers');
  const paid = await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
  await page.page.getByText('settlement.issued').first().click();
  await page.page
    .locator('tr', { hasText: 'settlement.issued' })
    .locator('td', { hasText: /^(You are)?\s*vendor$/ })
    .waitFor();
  await page.page.locator('details[open]').getByText(`"settlement_id": "${paid.settlement_id}"`).waitFor();
  await page.shoot('developers');
  expect(await page.wider()).toEqual([]);
  expect(await page.findings()).toEqual([]);
});

test('the calls of a key and its last use are shown, and the refused ones apart', async () => {
  const email = `seller-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const vendor = await createVendor(api, stack, { email });
  await quoteOf(api, vendor);
  const { status } = await api('POST /v1/quote', { token: vendor.apiKey, body: { service_id: 'none' } });
  expect(status).toBe(400);
  const page = await opened({ person: await signInPerson(stack, { email }) });
  await page.go('/requests');
  const rows = page.page.locator('table[aria-label="Calls"] tbody tr', { hasText: 'Weather' });
  await waitUntil(async () => (await rows.count()) === 2);
  await page.shoot('requests');
  await page.page.getByText('Failed calls only').click();
  await waitUntil(async () => (await rows.count()) === 1);
  expect(await rows.first().textContent()).toContain('validation_error');
  await page.go('/developers');
  const key = page.page.locator('table[aria-label="Your keys"] tbody tr').first();
  await key.getByText(`${vendor.apiKey.slice(0, 16)}…`).waitFor();
  expect(await page.findings()).toEqual([]);
});
