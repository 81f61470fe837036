import { expect, test } from '@jest/globals';
import { GUIDES } from '../../shared/contract/guides.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/** The pages of the documentation in Chromium: no error, readable on a phone and in the dark. */
const stack = runningStack();
const { origin } = new URL(stack.console_url);
const suite = consoleSuite(stack);

const PAGES = [
  '/',
  '/docs',
  '/docs/guides',
  '/docs/errors',
  '/docs/api/pay',
  '/docs/api/events',
  ...GUIDES.map(({ name }) => `/docs/guides/${name}`),
];

/** Several pages are a test, because one test has the time for about twenty on a busy machine. */
const PARTS = [0, 1, 2].map((part) => PAGES.filter((_, index) => index % 3 === part));

test.each([
  ['phone', 'dark', 0],
  ['phone', 'dark', 1],
  ['phone', 'dark', 2],
  ['desktop', 'light', 0],
  ['desktop', 'light', 1],
  ['desktop', 'light', 2],
] as const)(
  'every page fits a %s in %s colours, and axe finds nothing serious: part %d',
  async (width, colours, part) => {
    const opened = await suite.opened({ width, colours });
    for (const path of PARTS[part]!) {
      await opened.page.goto(origin + path);
      expect([path, await opened.wider()]).toEqual([path, []]);
      expect([path, await opened.findings()]).toEqual([path, []]);
      await opened.shoot(`docs${path.replaceAll('/', '-')}`);
    }
  },
);

test('the search has no serious finding while it shows results', async () => {
  const opened = await suite.opened();
  await opened.page.goto(`${origin}/docs`);
  await opened.page.getByRole('button', { name: 'Search' }).click();
  await opened.page.getByRole('combobox', { name: 'Search the documentation' }).fill('refund');
  await opened.page.getByRole('option').first().waitFor();
  expect(await opened.findings()).toEqual([]);
  await opened.shoot('docs-search');
});

test('a phone opens the navigation', async () => {
  const { page } = await suite.opened({ width: 'phone' });
  await page.goto(`${origin}/`);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Refunds', exact: true })
    .click();
  await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor();
});
