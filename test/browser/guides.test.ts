import { expect, test } from '@jest/globals';
import { GUIDES } from '../../shared/contract/guides.ts';
import { consoleSuite } from '../support/console-suite.ts';
import { runningStack } from '../support/stack.ts';

/** The guides in real Chromium: no error, readable on a phone and in the dark. */
const stack = runningStack();
const { origin } = new URL(stack.console_url);
const suite = consoleSuite(stack);

test.each([
  ['phone', 'dark'],
  ['desktop', 'light'],
] as const)('every guide fits a %s in %s colours, and axe finds nothing serious', async (width, colours) => {
  const opened = await suite.opened({ width, colours });
  for (const path of ['', ...GUIDES.map(({ name }) => `/${name}`)]) {
    await opened.page.goto(`${origin}/docs/guides${path}`);
    expect([path, await opened.wider()]).toEqual([path, []]);
    expect([path, await opened.findings()]).toEqual([path, []]);
    if (['', '/quickstart-vendor', '/limits'].includes(path))
      await opened.shoot(`guides${path.replace('/', '-')}`);
  }
});

test('a reader goes from the start page to a guide, and on to the next and the reference', async () => {
  const { page } = await suite.opened();
  await page.goto(`${origin}/`);
  await page.getByRole('link', { name: 'Guides' }).click();
  await page.getByRole('link', { name: 'Sell an API' }).click();
  await page.getByRole('heading', { name: 'Sell an API', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Pay for an API' }).last().click();
  await page.getByRole('heading', { name: 'Pay for an API', level: 1 }).waitFor();
  expect(await page.getByRole('link', { name: 'Reference', exact: true }).getAttribute('href')).toBe('/docs');
});
