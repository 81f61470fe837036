import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { Page } from 'playwright-core';
import { createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { linkToken } from '../../deploy/local/seed/sign-in.ts';
import { allowSpending } from '../../deploy/local/seed/wallet.ts';
import { waitFor } from '../support/base/wait.ts';
import { again, signInPayer } from '../support/browser/console-payer.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { makeWallet } from '../support/browser/console-wallet.ts';
import { buyMoney, payAsNewcomer, signInByMail } from '../support/browser/newcomer.ts';
import { openerWithWallet, startPageVendor } from '../support/browser/paying-page.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * People without an account and without a wallet pay in real Chromium: through the mail, by the
 * three steps of the page, on a computer and on a phone. The vendor uses createPaywall as the
 * README does.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const suite = consoleSuite(stack, {
  except: /^foreign: http:\/\/127\.0\.0\.1:\d+\/(report|pay|receipt|moonpay|coinbase)|status of 4(01|03|09)/,
});
const opened = openerWithWallet(suite);

const PRICE = 50_000n;
/** The fee that a payment of an account carries. */
const FEE = 10_000n;
let vendor: Vendor;
let shop: Awaited<ReturnType<typeof startPageVendor>>;
beforeAll(async () => {
  vendor = await createVendor(api, stack, { price: PRICE, name: 'City tours' });
  await must(api('GET /v1/settlements/foreign/terms', { token: vendor.apiKey }), 'terms');
  await waitFor(
    () => chain.connection.getAccountInfo(chain.tokenAccount(vendor.payout.publicKey)),
    (account) => account !== null,
  );
  shop = await startPageVendor(stack, vendor, {});
});
afterAll(() => shop?.stop());

const newAddress = () => `newcomer-${crypto.randomUUID().slice(0, 8)}@example.com`;
const received = () => chain.balance(vendor.payout.publicKey);
const soldTo = (city: string) => shop.runs.filter((each) => each.endsWith(city)).length;
type Link = { payment_link_id: string; url: string };
const makeLink = (more: object = {}) =>
  must(
    api<Link>('POST /v1/payment-links', {
      token: vendor.apiKey,
      body: { service_id: vendor.serviceId, title: 'Harbour tour', ...more },
    }),
    'link',
  );
const payButton = { name: /^Pay 0\.05 USDC as / };

test('somebody without anything pays a vendor of the README, and the order waits for mail, wallet and money', async () => {
  const page = await opened({ width: 'wide' });
  const before = await received();
  await page.page.goto(`${shop.url}?city=Ulm`);
  await page.page.getByRole('heading', { name: 'City tours', level: 1 }).waitFor();
  await page.page.getByText(new URL(shop.url).host, { exact: true }).waitFor();
  // Whoever has a wallet pays with it, here or on a phone, and whoever has none finds one.
  await page.page.getByRole('img', { name: 'Pay with your phone' }).waitFor();
  expect(await page.page.getByRole('link', { name: 'Phantom' }).getAttribute('href')).toBe(
    'https://phantom.com/download',
  );
  await page.shoot('newcomer');
  expect(await page.findings()).toEqual([]);

  const email = newAddress();
  const tab = await signInByMail(page, stack, { email });
  await tab.getByRole('heading', { name: 'City tours', level: 1 }).waitFor();
  await tab.getByRole('button', { name: 'Create a wallet' }).waitFor();
  await page.shoot('newcomer-first-tab');
  // The first tab does not pay the same thing too.
  await page.page.getByText('This payment continues in another tab').waitFor();
  expect(await page.page.getByRole('button', payButton).count()).toBe(0);
  await page.shoot('newcomer-steps', tab);
  await payAsNewcomer(page, tab, email);
  await tab.getByRole('heading', { name: 'All is well' }).waitFor();
  expect(tab.url()).toBe(`${shop.url}?city=Ulm`);
  expect([await received(), soldTo('Ulm')]).toEqual([before + PRICE - FEE, 1]);
  await tab.reload();
  await tab.getByRole('heading', { name: 'All is well' }).waitFor();
  expect(soldTo('Ulm')).toBe(1);
});

test('on a phone a link of solana: comes first, no code is shown, and three steps lead from nothing to a receipt', async () => {
  const { url } = await makeLink();
  const page = await opened({ width: 'touch' });
  const before = await received();
  // The address of the link as its vendor gives it, at the host of the API.
  await page.page.goto(url);
  await page.page.getByRole('heading', { name: 'City tours', level: 1 }).waitFor();
  expect(new URL(page.page.url()).hostname).toBe('localhost');
  const app = page.page.getByRole('link', { name: 'Pay 0.05 USDC in your wallet app' });
  expect(await app.getAttribute('href')).toMatch(/^solana:http%3A%2F%2F127\.0\.0\.1/);
  const [first] = await page.page.locator('main a').all();
  expect(await first!.getAttribute('href')).toMatch(/^solana:/);
  expect(await page.page.getByRole('img').count()).toBe(0);
  expect(await page.findings()).toEqual([]);
  expect(await page.wider()).toEqual([]);
  await page.shoot('newcomer-link');

  const email = newAddress();
  const tab = await signInByMail(page, stack, { email });
  await tab.getByRole('button', { name: 'Create a wallet' }).waitFor();
  await payAsNewcomer(page, tab, email);
  await tab.getByRole('link', { name: 'Open the receipt' }).waitFor();
  expect(await received()).toBe(before + PRICE - FEE);
  await page.shoot('newcomer-paid', tab);
  await tab.reload();
  await tab.getByRole('link', { name: 'Open the receipt' }).waitFor();
  expect(await received()).toBe(before + PRICE - FEE);
});

test('each step is shown when the one before it is done, and fits a phone', async () => {
  const { url } = await makeLink();
  const page = await opened({ width: 'touch' });
  await page.page.goto(url);
  const tab = await signInByMail(page, stack, { email: newAddress() });
  await tab.getByRole('button', { name: 'Create a wallet' }).waitFor();
  expect(await tab.getByRole('button', payButton).count()).toBe(0);
  await page.shoot('newcomer-step-wallet', tab);
  await tab.getByRole('button', { name: 'Create a wallet' }).click();
  await tab.getByRole('button', { name: 'Use a recovery code only' }).click();
  await tab.getByRole('button', { name: 'I saved it' }).click();
  await tab.getByRole('button', { name: 'Skip in test mode' }).click();
  await tab.getByText('You need 0.05 USDC more').waitFor();
  const deposit = tab.getByRole('link', { name: 'Buy by card or bank' });
  expect(await deposit.getAttribute('href')).toMatch(/^\/console\/deposits\?wallet=/);
  expect(await tab.getByRole('button', payButton).count()).toBe(0);
  await page.shoot('newcomer-step-money', tab);
  await tab.getByRole('button', { name: 'Get test money' }).click();
  await tab.getByRole('button', payButton).waitFor();
  await page.shoot('newcomer-step-pay', tab);
});

test('money that is bought by card arrives at the order, whose tab goes on by itself', async () => {
  const page = await opened({ width: 'touch' });
  const before = await received();
  await page.page.goto(`${shop.url}?city=Bonn`);
  const email = newAddress();
  const tab = await signInByMail(page, stack, { email });
  await tab.getByRole('button', { name: 'Create a wallet' }).click();
  await makeWallet({ ...page, page: tab }, 'Create with a passkey');
  const order = tab.url();
  const bought = await buyMoney(tab, 'MoonPay');
  await bought.getByText('Your payment is awaiting the money').waitFor();
  await page.shoot('newcomer-bought', bought);
  await tab.getByRole('button', payButton).click({ timeout: 90_000 });
  expect(tab.url()).toBe(order);
  await tab.getByRole('button', { name: 'Sign with your passkey' }).click();
  await tab.getByRole('heading', { name: 'All is well' }).waitFor();
  expect(tab.url()).toBe(`${shop.url}?city=Bonn`);
  expect([await received(), soldTo('Bonn')]).toEqual([before + PRICE - FEE, 1]);
  // The order that is paid waits for nothing.
  await bought.reload();
  await bought.getByRole('table').getByText('completed').waitFor();
  expect(await bought.getByText('Your payment is awaiting the money').count()).toBe(0);
});

test('the tab of the purchase leads back to the order, and the first tab does not pay it too', async () => {
  const page = await opened({ width: 'wide' });
  const before = await received();
  await page.page.goto((await makeLink()).url);
  const tab = await signInByMail(page, stack, { email: newAddress() });
  await tab.getByRole('button', { name: 'Create a wallet' }).click();
  const code = await makeWallet({ ...page, page: tab }, 'Use a recovery code only');
  const bought = await buyMoney(tab, 'Coinbase Onramp');
  await bought.getByRole('button', { name: 'Back to your payment' }).click();
  await tab.getByText('This payment continues in another tab').waitFor();
  await bought.getByRole('button', payButton).click({ timeout: 90_000 });
  await bought.getByRole('button', { name: 'Use the recovery code' }).click();
  await bought.getByLabel('Recovery code').fill(code);
  await bought.getByRole('button', { name: 'Sign with the code' }).click();
  await bought.getByRole('link', { name: 'Open the receipt' }).waitFor();
  expect(await received()).toBe(before + PRICE - FEE);
  expect(await tab.getByRole('button', payButton).count()).toBe(0);
});

test('a mail that is opened in another browser goes on with the order there, and the first browser says so', async () => {
  const [first, phone] = [await opened({ width: 'wide' }), await opened({ width: 'touch' })];
  const before = await received();
  await first.page.goto(`${shop.url}?city=Kiel`);
  await first.page.getByRole('button', { name: 'Sign in to pay' }).click();
  const [email, since] = [newAddress(), Date.now()];
  await first.page.getByLabel('E-mail').fill(email);
  await first.page.getByRole('button', { name: 'Mail me a link' }).click();
  await first.page.getByText('Check your e-mail').waitFor();
  const token = await linkToken(stack.mail_url, email, 'test', since);

  await phone.page.goto(`${stack.console_url}/sign-in/link#token=${token}`);
  await phone.page.getByRole('heading', { name: 'Is this your account?' }).waitFor();
  await phone.page.getByText('Then your payment continues here').waitFor();
  await phone.shoot('newcomer-other-browser');
  expect(await phone.findings()).toEqual([]);
  await phone.page.getByRole('button', { name: `Sign in here as ${email}` }).click();
  await phone.page.getByRole('heading', { name: 'City tours', level: 1 }).waitFor();
  await first.page.getByText('You are signed in on your other device or browser').waitFor();
  await first.page.getByText('your payment continues there').waitFor();
  await first.shoot('newcomer-first-browser');
  expect(await first.findings()).toEqual([]);
  await payAsNewcomer(phone, phone.page, email);
  await phone.page.getByRole('heading', { name: 'All is well' }).waitFor();
  expect(phone.page.url()).toBe(`${shop.url}?city=Kiel`);
  expect([await received(), soldTo('Kiel')]).toEqual([before + PRICE - FEE, 1]);
});

test('a stored address of another site is not opened by a sign-in', async () => {
  const page = await opened();
  await page.page.goto((await makeLink()).url);
  await page.page.evaluate(() => {
    const stored = { address: 'https://evil.example/pay#x', environment: 'test', until: Date.now() + 60_000 };
    // The page stores its own order when the link is requested, and another script replaces it.
    const set = Storage.prototype.setItem;
    Storage.prototype.setItem = function (key: string, value: string) {
      set.call(this, key, key === 'quittance.order' ? JSON.stringify(stored) : value);
    };
  });
  await page.page.getByRole('button', { name: 'Sign in to pay' }).click();
  const [email, since] = [newAddress(), Date.now()];
  await page.page.getByLabel('E-mail').fill(email);
  await page.page.getByRole('button', { name: 'Mail me a link' }).click();
  await page.page.getByText('Check your e-mail').waitFor();
  const token = await linkToken(stack.mail_url, email, 'test', since);
  await page.page.goto(`${stack.console_url}/sign-in/link#token=${token}`);
  await page.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  // The API has kept the order with the link, and goes on with that.
  await page.page.getByRole('heading', { name: 'City tours', level: 1 }).waitFor();
  expect(new URL(page.page.url()).origin).toBe(new URL(stack.console_url).origin);
});

/** The clock of the page is later than any quote of now. It is right once the page has renewed. */
const late = (until: 'renewed' | 'always'): string => `{
  const now = Date.now.bind(Date);
  const isRight = () => ${until === 'renewed'} &&
    Object.keys(sessionStorage).some((key) => key.startsWith('quittance.renewed.'));
  Date.now = () => now() + (isRight() ? 0 : 1_000_000);
}`;

test('a price of a link that runs out is renewed in place, and the page says that it is the same', async () => {
  const page = await opened({ wallet: Keypair.generate() });
  await page.context.addInitScript(late('renewed'));
  await page.page.goto((await makeLink()).url);
  await page.page.getByText('This is a new one, and it is the same').waitFor();
  await page.page.getByRole('button', { name: 'Pay 0.05 USDC with Test Wallet' }).waitFor();
  expect(await page.page.getByText('This price has expired').count()).toBe(0);
});

test('a price that has always run out is renewed three times, and then by the person', async () => {
  const page = await opened();
  await page.context.addInitScript(late('always'));
  let quotes = 0;
  page.page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/quote')) quotes += 1;
  });
  await page.page.goto((await makeLink()).url);
  await page.page.getByRole('button', { name: 'Get a new price' }).waitFor();
  expect(quotes).toBe(4);
  const asked = page.page.waitForRequest('**/quote');
  await page.page.getByRole('button', { name: 'Get a new price' }).click();
  await asked;
});

test('a price of a vendor that runs out is renewed when the account is ready to pay, and is paid once', async () => {
  const payer = await signInPayer(stack);
  const page = await opened({ person: await again(stack, payer) });
  await page.go('/');
  const before = await received();
  await page.context.addInitScript(late('renewed'));
  await page.page.goto(`${shop.url}?city=Hof`);
  await page.page.getByText('This is a new one, and it is the same').waitFor();
  await page.page.getByRole('button', payButton).click();
  await page.page.getByRole('heading', { name: 'All is well' }).waitFor();
  expect([await received(), soldTo('Hof')]).toEqual([before + PRICE - FEE, 1]);
});

test('an account whose allowance is used up is asked for it, and no page says that a limit is to be raised', async () => {
  const payer = await signInPayer(stack, 1_000_000n);
  const page = await opened({ person: await again(stack, payer), wallet: payer.wallet });
  await page.go('/');
  await page.page.goto((await makeLink({ quote_amount: '900000' })).url);
  await page.page.getByRole('button', { name: /^Pay 0\.90 USDC as / }).click();
  await page.page.getByRole('link', { name: 'Open the receipt' }).waitFor();
  await page.page.goto((await makeLink({ quote_amount: '500000' })).url);
  await page.page.getByText('You need 0.40 USDC more').waitFor();
  expect(await page.page.getByText(/limit first/i).count()).toBe(0);
});

test('money that was spent elsewhere is added from the refusal, and the page for that leads back', async () => {
  const payer = await signInPayer(stack, 1_000_000n);
  await allowSpending(api, payer.token, payer.walletId, payer.wallet, 5_000_000n);
  const page = await opened({ person: await again(stack, payer), wallet: payer.wallet });
  await page.go('/');
  await page.page.goto((await makeLink({ quote_amount: '900000' })).url);
  const pay = (tab: Page) => tab.getByRole('button', { name: /^Pay 0\.90 USDC as / });
  await pay(page.page).waitFor();
  const order = page.page.url();
  const elsewhere = await page.context.newPage();
  await elsewhere.goto((await makeLink({ quote_amount: '900000' })).url);
  await pay(elsewhere).click();
  await elsewhere.getByRole('link', { name: 'Open the receipt' }).waitFor();
  await pay(page.page).click();
  await page.page.getByText('Not enough USDC in the wallet of your account').waitFor();
  const opening = page.context.waitForEvent('page');
  await page.page.getByRole('link', { name: 'Add money' }).click();
  const deposits = await opening;
  await deposits.getByRole('button', { name: 'Back to your payment' }).click();
  await page.page.getByText('This payment continues in another tab').waitFor();
  expect(deposits.url()).toBe(order);
});

test('a wallet of this browser without money is told where to go', async () => {
  const page = await opened({ wallet: Keypair.generate() });
  await page.page.goto((await makeLink()).url);
  await page.page.getByRole('button', { name: 'Pay 0.05 USDC with Test Wallet' }).click();
  await page.page.getByText(/^(Not enough USDC in your wallet|The chain refuses the payment)/).waitFor();
  await page.shoot('newcomer-no-money');
  await page.page.getByRole('button', { name: 'Pay with an account' }).click();
  await page.page.getByLabel('E-mail').waitFor();
  expect(await page.findings()).toEqual([]);
});
