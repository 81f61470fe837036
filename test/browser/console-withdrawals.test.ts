import { expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { fund, linkWallet } from '../../deploy/local/seed/wallet.ts';
import { walletScript } from '../support/browser/browser-wallet.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * Withdrawals in real Chromium: created, signed by the wallet's owner, followed and cancelled.
 * Nothing else is signed.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

/** Requests of the list, with any query. */
const LIST = /\/v1\/withdrawals(\?.*)?$/;

const { opened } = consoleSuite(stack);

const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });
const dialog = ({ page }: ConsolePage) => page.getByRole('dialog');
const table = ({ page }: ConsolePage) => page.getByRole('table', { name: 'All withdrawals' });
const write = async (page: ConsolePage, amount: string, to: string) => {
  await page.page.getByLabel('Amount').fill(amount);
  await page.page.getByLabel('To', { exact: true }).fill(to);
  await button(page, 'Review and sign').click();
};
/** A person whose wallet is in the browser and has 50 USDC. */
const fixture = async (options: Omit<Parameters<typeof opened>[0] & object, 'person'> = {}) => {
  const person = await signInPerson(stack);
  const wallet = Keypair.generate();
  const { wallet_id } = await linkWallet(api, person.token, person.accountId, wallet);
  await fund(api, person.token, wallet_id, 50_000_000n);
  const page = await opened({ person, ...options });
  await page.context.addInitScript(walletScript(wallet));
  return { person, wallet, wallet_id, page };
};

test('a withdrawal to an external address is shown, signed, and followed until it is final', async () => {
  const { page } = await fixture();
  await page.go('/withdrawals');
  await page.page.getByText('No withdrawals yet').waitFor();
  await page.shoot('withdrawals-empty');
  expect(await page.findings()).toEqual([]);
  const payee = Keypair.generate().publicKey;

  await write(page, '50.000001', 'not an address');
  await page.page.getByText('The wallet holds less than that.').waitFor();
  await page.page.getByText('Enter a Solana address').waitFor();
  // A decimal keyboard may have a comma only. The page shows how it reads that.
  await page.page.getByLabel('Amount').fill('12,5');
  await page.page.getByText('12.50 USDC', { exact: true }).waitFor();
  await write(page, '12,5', payee.toBase58());
  await dialog(page).getByText('Send 12.50 USDC').waitFor();
  expect(await dialog(page).textContent()).toMatch(new RegExp(`12\\.50 USDC.*${payee.toBase58()}`));
  await page.shoot('withdrawals-approve');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Sign with Test Wallet').click();
  await page.page.getByText('Signed and sent.').waitFor();
  await table(page).getByText('finalized').waitFor({ timeout: 90_000 });
  expect(await chainOf(stack.environments.test!).balance(payee)).toBe(12_500_000n);
  await page.shoot('withdrawals-typical');
  expect(await page.findings()).toEqual([]);
});

test('a pending withdrawal is approved later with a fresh sign-in, and another is cancelled for good', async () => {
  const { page } = await fixture();
  await page.go('/withdrawals');
  const payee = Keypair.generate().publicKey;
  await write(page, '1', payee.toBase58());
  await dialog(page).getByText('Send 1.00 USDC').waitFor();
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await table(page).getByText('pending approval').waitFor();
  await page.shoot('withdrawals-pending');
  await button(page, 'Sign').click();
  await button(page, 'Sign with Test Wallet').click();
  await table(page)
    .getByText(/submitted|confirmed|finalized/)
    .waitFor();

  await write(page, '2', payee.toBase58());
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await table(page).getByRole('button', { name: 'Cancel' }).click();
  await button(page, 'Cancel the withdrawal').click();
  await table(page).getByText('cancelled').waitFor();
  await expect(button(page, 'Sign').count()).resolves.toBe(0);
});

test('another amount or destination than the entered one is refused before a signature is requested', async () => {
  const { page } = await fixture({ width: 'phone', colours: 'dark' });
  const [payee, thief] = [Keypair.generate().publicKey.toBase58(), Keypair.generate().publicKey.toBase58()];
  const approvals: string[] = [];
  page.page.on('request', (request) => {
    if (request.url().endsWith('/approve')) approvals.push(request.url());
  });
  for (const [sent, why] of [
    [{ destination_address: thief }, 'the destination differs'],
    [{ amount: '49000000' }, 'the amount differs'],
  ] as const) {
    await page.page.route('**/v1/withdrawals', async (route) => {
      const asked = route.request().postDataJSON() as object;
      const response = await route.fetch({ postData: JSON.stringify({ ...asked, ...sent }) });
      const made = (await response.json()) as object;
      // The answer claims to be what was requested.
      await route.fulfill({ response, json: { ...made, ...asked } });
    });
    await page.go('/withdrawals');
    await write(page, '3', payee);
    await dialog(page).getByText(why).waitFor();
    await expect(button(page, 'Sign with Test Wallet').count()).resolves.toBe(0);
    await page.page.unroute('**/v1/withdrawals');
  }
  await page.shoot('withdrawals-refused');
  expect(await page.findings()).toEqual([]);
  expect(approvals).toEqual([]);
});

test('many withdrawals fit a phone, and a failing system shows whether money moved', async () => {
  const { page, person, wallet_id } = await fixture({ width: 'phone' });
  await must(
    api('POST /v1/withdrawals', {
      token: person.token,
      body: { wallet_id, amount: '1', destination_address: Keypair.generate().publicKey.toBase58() },
    }),
    'withdraw',
  );
  const states = ['pending_approval', 'submitted', 'finalized', 'failed', 'cancelled', 'expired'];
  await page.page.route(LIST, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    const response = await route.fetch();
    const { data } = (await response.json()) as { data: object[] };
    const many = Array.from({ length: 20 }, (_, at) => ({
      ...data[0],
      withdrawal_id: `wd_${at}`,
      status: states[at % 6],
      amount: at === 2 ? '9223372036854775807' : '12500000',
      ...(at % 6 === 3 && { failure: { code: 'x', message: 'the wallet holds less than that' } }),
    }));
    await route.fulfill({ response, json: { data: many, next_cursor: null } });
  });
  await page.go('/withdrawals');
  await table(page).getByText('expired', { exact: true }).first().waitFor();
  await page.shoot('withdrawals-overfull');
  expect(await page.findings()).toEqual([]);
  expect(await page.wider()).toEqual([]);
  await page.page.route('**/v1/withdrawals', (route) =>
    route.request().method() !== 'POST'
      ? route.fallback()
      : route.fulfill({
          status: 503,
          json: {
            error: {
              code: 'service_unavailable',
              message: 'the chain cannot be read',
              money_moved: 'no',
              safe_action: 'retry_same_attempt',
            },
          },
        }),
  );
  await write(page, '3', Keypair.generate().publicKey.toBase58());
  await page.page.getByRole('alert').getByText('No money moved.').waitFor({ timeout: 60_000 });
  await page.shoot('withdrawals-failing');
  expect(await page.findings()).toEqual([]);
});
