import { expect, test } from '@jest/globals';
import { createConsumer, createVendor } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { signInPerson, visit } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * Fields on a screen of 320 px. iOS zooms in on one with smaller letters, and the person is lost on
 * a page that is wider than the screen.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const { opened } = consoleSuite(stack, { except: /^foreign: / });

const PAGES = [
  ...['/', '/services', '/sales', '/sales/statement', '/webhooks', '/try', '/protect', '/integrate'],
  ...['/wallet', '/delegates', '/approvals', '/activity', '/deposits', '/withdrawals'],
  ...['/account', '/device', '/developers', '/requests'],
];
/** The letters of each field, with what it is called. */
const FIELDS = `[...document.querySelectorAll('input, select, textarea')].map((field) => [
  field.getAttribute('aria-label') ?? field.name ?? field.type, parseFloat(getComputedStyle(field).fontSize)])`;
type Page = Awaited<ReturnType<typeof opened>>['page'];
const fieldsOf = (page: Page) => page.evaluate<[string, number][]>(FIELDS);

test('no field of console, pay page or documents has letters below 16 px', async () => {
  const person = await signInPerson(stack);
  const [vendor] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
  const link = await must(
    api<{ url: string }>('POST /v1/payment-links', {
      token: vendor.apiKey,
      body: { service_id: vendor.serviceId, title: 'Tour', quote_amount: '50000' },
    }),
    'link',
  );
  const [inside, outside] = [await opened({ person }), await opened()];
  const small: unknown[] = [];
  let measured = 0;
  const measure = async (page: Page, where: string): Promise<void> => {
    for (const [name, size] of await fieldsOf(page)) {
      measured += 1;
      if (size < 16) small.push([where, name, size]);
    }
  };
  for (const { page } of [inside, outside]) await page.setViewportSize({ width: 320, height: 640 });
  for (const path of PAGES) {
    await inside.go(path);
    // Forms that a button of the page opens.
    await measure(inside.page, path);
    for (const name of [/^(New|Create|Add|Link) /]) {
      const button = inside.page.locator('main').getByRole('button', { name }).first();
      if ((await button.count()) === 0 || !(await button.isEnabled())) continue;
      await button.click();
      await measure(inside.page, `${path} ${name}`);
    }
  }
  await outside.go('/');
  await measure(outside.page, 'sign-in');
  await visit(outside.page, link.url);
  await measure(outside.page, 'payment link');
  const { origin } = new URL(stack.console_url);
  await outside.page.goto(`${origin}/docs/guides/metered`);
  await measure(outside.page, 'documents');
  await outside.page
    .getByRole('button', { name: /^Search/ })
    .first()
    .click();
  await outside.page.getByRole('combobox').first().waitFor();
  await measure(outside.page, 'search');
  expect(small).toEqual([]);
  expect(measured).toBeGreaterThan(20);
});
