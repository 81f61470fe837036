import { expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { linkWallet } from '../../deploy/local/seed/wallet.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * Deposits in real Chromium: to the provider's page, back, and shown until the transfer is on the
 * chain.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

/** Requests of the list, with any query. */
const LIST = /\/v1\/deposits(\?.*)?$/;

// The provider's page is another origin. The browser opens it, and the page sends no request to it.
const provider = /^foreign: http:\/\/(localhost|127\.0\.0\.1):\d+\/(moonpay|coinbase)?/;
const { opened } = consoleSuite(stack, { except: provider });
const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });
const table = ({ page }: ConsolePage) => page.getByRole('table', { name: 'Card and bank deposits' });
const withWallet = async () => {
  const person = await signInPerson(stack);
  const wallet = await linkWallet(api, person.token, person.accountId, Keypair.generate());
  return { person, wallet };
};
const depositOf = (token: string, wallet_id: string, provider: string) =>
  must(
    api<{ deposit_id: string; redirect_url: string }>('POST /v1/deposits/fiat', {
      token,
      body: { wallet_id, provider, fiat_currency: 'EUR', fiat_amount: '1234567.89' },
    }),
    'deposit',
  );

test.each([
  ['MoonPay', 'moonpay', 'Approve'],
  ['Coinbase Onramp', 'coinbase', 'Pay'],
])('a deposit by %s is followed from the amount to the money on chain', async (label, provider, action) => {
  const { person, wallet } = await withWallet();
  const page = await opened({ person });
  await page.go(`/deposits?wallet=${wallet.wallet_id}`);
  await page.page.getByText('No deposits yet').waitFor();
  // Whoever has USDC already sends it: the address, whole, and its QR code.
  await page.page.getByRole('img', { name: /^QR code of the address/ }).waitFor();
  expect(await page.page.locator('.deposit-address code').textContent()).toBe(wallet.address);
  if (provider === 'moonpay') await page.shoot('deposits-empty');
  expect(await page.findings()).toEqual([]);
  if (provider === 'coinbase') {
    await page.page.getByRole('button', { name: /Provider$/ }).click();
    await page.page.getByRole('option', { name: label }).click();
  }
  await page.page.getByLabel('Amount').fill('0');
  await button(page, `Continue to ${label}`).click();
  await page.page.getByText('Enter an amount like 50 or 49.90.').waitFor();
  await page.page.getByLabel('Amount').fill('50');
  await button(page, `Continue to ${label}`).click();

  await page.page.getByRole('button', { name: action, exact: true }).waitFor();
  expect(page.page.url()).not.toContain('/console');
  // A user who returns without having paid finds the link to the provider again.
  await page.go('/deposits');
  await page.page.getByText('is waiting for the payment').waitFor();
  await page.shoot(`deposits-waiting-${provider}`);
  expect(await page.findings()).toEqual([]);
  await page.page
    .getByRole('link', { name: `Pay at ${label}` })
    .first()
    .click();
  await page.page.getByRole('button', { name: action, exact: true }).click();
  const back = page.page.getByRole('link', { name: /back|return/i });
  await back.click();
  await page.page.getByRole('heading', { name: 'Deposits', exact: true }).waitFor();
  expect(page.page.url()).toContain('/console/deposits');
  // The page updates itself from here on.
  await table(page).getByText('completed').waitFor({ timeout: 90_000 });
  await expect(page.page.getByText('In progress').count()).resolves.toBe(0);
  expect(await table(page).textContent()).toMatch(/50\.00 USD.*USDC/);
  await page.shoot(`deposits-typical-${provider}`);
});

test('many deposits fit a phone in dark colours, and only the provider’s page is opened', async () => {
  const { person, wallet } = await withWallet();
  for (let at = 0; at < 4; at += 1)
    await depositOf(person.token, wallet.wallet_id, at % 2 === 0 ? 'moonpay' : 'coinbase');
  const page = await opened({ person, width: 'phone', colours: 'dark' });
  const states = ['settling', 'completed', 'failed', 'expired'];
  await page.page.route(LIST, async (route) => {
    const response = await route.fetch();
    const { data } = (await response.json()) as { data: Record<string, unknown>[] };
    const many = Array.from({ length: 20 }, (_, at) => ({
      ...data[at % data.length]!,
      deposit_id: `dep_${at}`,
      ...(at > 3 && { status: states[at % 4], amount: '9223372036854775807' }),
      ...(at % 4 === 2 && {
        problem: { code: 'x', message: 'the card was declined by the bank that issued it' },
      }),
      ...(at === 0 && { redirect_url: 'javascript:document.title="taken"' }),
    }));
    await route.fulfill({ response, json: { data: many, next_cursor: null } });
  });
  await page.go('/deposits');
  await table(page).getByText('expired').first().waitFor();
  await page.shoot('deposits-overfull');
  expect(await page.findings()).toEqual([]);
  expect(await page.wider()).toEqual([]);
  const links = await page.page
    .getByRole('link', { name: /^Pay at/ })
    .evaluateAll((all) => all.map((link) => (link as unknown as { protocol: string }).protocol));
  expect(links.length).toBeGreaterThan(1);
  expect(links).not.toContain('javascript:');
});

test('without a wallet the page links to one, and when the provider fails it shows the error and keeps the entered text', async () => {
  const nobody = await opened({ person: await signInPerson(stack) });
  await nobody.go('/deposits');
  await nobody.page.getByText('No wallet for a deposit yet').waitFor();
  // Card and bank are there too, with the reason why they cannot be used yet.
  await nobody.page
    .getByRole('region', { name: 'Buy USDC by card or bank' })
    .getByText('You need a wallet')
    .waitFor();
  await nobody.page.getByRole('link', { name: 'Add a wallet' }).first().click();
  await nobody.page.getByText('No wallet yet').waitFor();

  const { person } = await withWallet();
  const page = await opened({ person });
  await page.page.route('**/v1/deposits/fiat', (route) =>
    route.fulfill({
      status: 409,
      json: { error: { code: 'conflict', message: 'the provider refused the amount' } },
    }),
  );
  await page.go('/deposits');
  await page.page.getByLabel('Amount').fill('20');
  await button(page, 'Continue to MoonPay').click();
  await page.page.getByRole('alert').getByText('The provider refused the amount').waitFor();
  expect(await page.page.getByLabel('Amount').inputValue()).toBe('20');
  await page.shoot('deposits-failing');
  expect(await page.findings()).toEqual([]);
});
