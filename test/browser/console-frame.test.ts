import { expect, test } from '@jest/globals';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/** What every page has: documents, help, the command palette, and recovery of a lost connection. */
const stack = runningStack();
// The errors of a page that cannot load its files are what the tests cause.
const { opened } = consoleSuite(stack, {
  except: /preload CSS|dynamically imported module|ERR_INTERNET_DISCONNECTED|Failed to fetch|404/,
});
const heading = ({ page }: ConsolePage, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true });

test('every page links its guide and the documents, which exist', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  const band = page.page.getByRole('banner');
  const found = new Set<string>();
  for (const path of ['/', '/wallet', '/sales', '/webhooks', '/requests', '/sales/statement']) {
    await page.go(path);
    for (const link of [
      band.getByRole('link', { name: 'Docs' }),
      band.getByRole('link', { name: /^Help: / }),
    ])
      found.add((await link.getAttribute('href'))!);
  }
  expect(found.size).toBeGreaterThan(3);
  for (const path of found)
    expect([path, (await fetch(`${stack.gateway_url}${path}`)).status]).toEqual([path, 200]);
});

test('the type face of the console is loaded from its own origin', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  await page.go('/');
  const faces = "document.fonts.load('16px Inter').then((faces) => faces.map(({ status }) => status))";
  expect(await page.page.evaluate(faces)).toEqual(['loaded']);
});

test('Ctrl-K leads to pages, guides and objects by their ids, with the keyboard alone', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  const { keyboard } = page.page;
  await page.go('/');
  await keyboard.press('Control+k');
  const field = page.page.getByRole('searchbox').or(page.page.getByLabel('Page, guide or id'));
  await field.waitFor();
  await page.page
    .getByRole('menuitem', { name: 'Statement' })
    .or(page.page.getByRole('menuitem'))
    .first()
    .waitFor();
  expect(await page.findings()).toEqual([]);
  await keyboard.type('webh');
  await page.page.getByRole('menuitem').nth(1).waitFor();
  expect(await page.page.getByRole('menuitem').allTextContents()).toEqual(['Webhooks', 'Webhooks']);
  await page.shoot('palette');
  await keyboard.press('Enter');
  await heading(page, 'Webhooks').waitFor();

  const id = 'stl_01m82xws9yfqbbx539kk3pttty';
  await keyboard.press('Control+k');
  await field.fill(id);
  await page.page.getByRole('menuitem', { name: 'Open the sale' }).click();
  await page.page.waitForURL(new RegExp(`/sales/${id}$`));

  await keyboard.press('Control+k');
  await field.fill('no such thing');
  await page.page.getByText('Nothing found.').waitFor();
  await keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
});

test('a page that did not load leaves the others alone, and loads by itself when the connection is back', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  await page.go('/services');
  await page.context.setOffline(true);
  const link = (name: string) => page.page.getByRole('link', { name, exact: true }).first();
  await link('Sales').click();
  await page.page.getByText('This page could not be loaded').waitFor();
  expect(await page.page.textContent('main')).not.toContain('imported module');
  await link('Services').click();
  await heading(page, 'Services').waitFor();
  await link('Sales').click();
  await page.page.getByText('This page could not be loaded').waitFor();
  await page.shoot('page-not-loaded');
  await page.context.setOffline(false);
  await heading(page, 'Sales').waitFor();
});

test('after a release, whose files have other names, the page is loaded again once', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  await page.go('/services');
  let refused = 0;
  await page.page.route('**/assets/statement-*.js', async (route) => {
    refused += 1;
    await route.fulfill({ status: 404, body: '' });
  });
  await page.page.evaluate('history.pushState(null, "", "/console/sales/statement")');
  await page.page.getByText('Reload it.').waitFor();
  // At first, and after the one reload.
  expect(refused).toBe(2);
  await page.page.unroute('**/assets/statement-*.js');
  await page.page.getByRole('button', { name: 'Reload' }).click();
  await heading(page, 'Statement').waitFor();
});
