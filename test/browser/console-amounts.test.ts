import { expect, test } from '@jest/globals';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import type { ConsolePage } from '../support/browser/console.ts';
import { signInPayer } from '../support/browser/console-payer.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/** Amounts as people of other languages type them, in real Chromium of that language. */
const stack = runningStack();
const api = createApi(stack.gateway_url);

const { opened } = consoleSuite(stack);
const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });
const field = ({ page }: ConsolePage, label: string) => page.getByLabel(label, { exact: true });

test('in German 0,05 is five cents, and 1.500 is asked about before anything is sent', async () => {
  const payer = await signInPayer(stack);
  const limitsOf = async () => {
    type List = { data: { limits: Record<string, string | null> }[] };
    const { data } = await must(api<List>('GET /v1/delegates', { token: payer.token }), 'delegates');
    return data.map(({ limits }) => [limits.per_payment, limits.daily]);
  };
  const page = await opened({ person: payer, locale: 'de-DE' });
  await page.go('/delegates');
  await button(page, 'New agent').click();
  await field(page, 'Name').fill('Night crawler');
  await field(page, 'Per payment').fill('0,05');
  await page.page.getByText('0.05 USDC', { exact: true }).waitFor();
  await field(page, 'Per day (UTC)').fill('1.500');
  await page.page.getByText('This can mean two amounts. Choose one.').waitFor();
  await page.shoot('amounts-asked');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Create and show the key').click();
  // The browser goes back to the field, and nothing was sent.
  await expect(field(page, 'Per day (UTC)').evaluate((input) => input.matches(':focus'))).resolves.toBe(true);
  expect(await limitsOf()).toEqual([]);
  await button(page, '1.50 USDC').waitFor();
  await button(page, '1,500.00 USDC').click();
  await expect(field(page, 'Per day (UTC)').inputValue()).resolves.toBe('1500.00');
  await button(page, 'Create and show the key').click();
  await page.page.getByRole('heading', { name: 'Key of “Night crawler”' }).waitFor();
  expect(await limitsOf()).toEqual([['50000', '1500000000']]);
});

test('1.234,50 is an allowance, and what is prefilled is never asked about', async () => {
  const page = await opened({ person: await signInPayer(stack), locale: 'de-DE' });
  await page.page.route(/\/v1\/wallets(\?.*)?$/, async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: { delegation: { allowance: string } }[] };
    body.data[0]!.delegation.allowance = '12125000';
    await route.fulfill({ response, json: body });
  });
  await page.go('/wallet');
  await page.page.getByRole('button', { name: /^Change the spending limit:/ }).click();
  await expect(field(page, 'Spending limit').inputValue()).resolves.toBe('12.1250');
  await expect(page.page.getByText('This can mean two amounts').count()).resolves.toBe(0);
  await field(page, 'Spending limit').fill('1.234,50');
  await page.page.getByText('1,234.50 USDC', { exact: true }).waitFor();
});
