import { beforeAll, expect, test } from '@jest/globals';
import { fetchTransaction, parseURL, type TransactionRequestURL } from '@solana/pay';
import { Keypair } from '@solana/web3.js';
import type { Page } from 'playwright-core';
import { type Consumer, createConsumer, createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { waitFor } from '../support/base/wait.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { openerWithWallet, signAsOther, signChanged } from '../support/browser/paying-page.ts';
import { readQr } from '../support/browser/read-qr.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';
import { guardOf } from '../support/stand-ins/stand-in-programs.ts';

/**
 * People pay payment links in real Chromium, with wallets of the Wallet Standard and with an
 * account, over a real stack. The vendor has no server.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
// The address of a receipt is that of the API, which leads to the page at localhost.
const suite = consoleSuite(stack, {
  except: /^foreign: http:\/\/127\.0\.0\.1:\d+\/receipt|status of 4(04|09)/,
});

const PRICE = 50_000n;
let vendor: Vendor;
let buyer: Consumer;
beforeAll(async () => {
  [vendor, buyer] = await Promise.all([
    createVendor(api, stack, { price: PRICE, name: 'City tours' }),
    createConsumer(api, stack),
  ]);
  // Whoever makes a link makes the platform create the token account of its payout address.
  await make();
  await waitFor(
    () => chain.connection.getAccountInfo(chain.tokenAccount(vendor.payout.publicKey)),
    (account) => account !== null,
  );
});

type Link = { payment_link_id: string; url: string; status: string; payments: number };
const make = (more: object = {}) =>
  must(
    api<Link>('POST /v1/payment-links', {
      token: vendor.apiKey,
      body: { service_id: vendor.serviceId, title: 'Harbour tour', ...more },
    }),
    'link',
  );
const shown = ({ payment_link_id }: Link) =>
  must(api<Link>(`GET /v1/payment-links/${payment_link_id}`, { token: vendor.apiKey }), 'get');
type Sale = { settlement_id: string; status: string; rail: string; scope: object | null };
const salesOf = async ({ payment_link_id }: Link): Promise<Sale[]> => {
  const { data } = await must(
    api<{ data: Sale[] }>('GET /v1/settlements?limit=100', { token: vendor.apiKey }),
    'list',
  );
  return data.filter(({ scope }) => JSON.stringify(scope).includes(payment_link_id));
};

const opened = openerWithWallet(suite);
const address = ({ url }: Link) => `${new URL(stack.console_url).origin}${new URL(url).pathname}`;
const meet = async ({ page }: ConsolePage, link: Link): Promise<void> => {
  await page.goto(address(link));
  await page.getByRole('heading', { name: 'City tours' }).waitFor();
};
const payButton = (page: Page) => page.getByRole('button', { name: 'Pay 0.05 USDC with Test Wallet' });
const receiptLink = (page: Page) => page.getByRole('link', { name: 'Open the receipt' });
const received = () => chain.balance(vendor.payout.publicKey);

test('one click in the page and one in the wallet pay a link, with a receipt, the way on, and no second payment by a reload', async () => {
  const link = await make({ success_url: 'https://shop.example/thanks?a=1' });
  const page = await opened({ wallet: buyer.wallet });
  const before = await received();
  await meet(page, link);
  expect(await page.page.title()).toBe('Pay 0.05 USDC to City tours for Harbour tour');
  await page.page.getByText('Harbour tour').waitFor();
  await page.page.getByText(vendor.payout.publicKey.toBase58()).waitFor();
  await page.shoot('link');
  expect(await page.findings()).toEqual([]);
  await payButton(page.page).click();
  await receiptLink(page.page).waitFor();
  expect(await received()).toBe(before + PRICE);
  await page.shoot('link-paid');
  expect(await page.findings()).toEqual([]);
  await page.page.reload();
  await receiptLink(page.page).waitFor();
  expect(await received()).toBe(before + PRICE);

  // The platform redeems it, because nobody else does.
  const [sale] = await waitFor(
    () => salesOf(link),
    ([one]) => one?.status === 'redeemed',
  );
  expect(sale).toMatchObject({ rail: 'x402', scope: { payment_link: { title: 'Harbour tour' } } });
  expect(await shown(link)).toMatchObject({ status: 'active', payments: 1 });
  const onward = await page.page.getByRole('link', { name: 'Continue to shop.example' }).getAttribute('href');
  expect(onward).toBe(`https://shop.example/thanks?a=1&quittance_settlement=${sale!.settlement_id}`);
  await receiptLink(page.page).click();
  await page.page.getByText('Signature valid').waitFor();
  await page.page.getByText('City tours').first().waitFor();
});

test('an account pays a link after a sign-in, and gets the receipt', async () => {
  const link = await make();
  const person = await signInPerson(stack, { email: buyer.signIn.account.email });
  const page = await opened({ person });
  await page.go('/');
  await meet(page, link);
  await page.page.getByRole('button', { name: `Pay 0.05 USDC as ${buyer.signIn.account.email}` }).click();
  await receiptLink(page.page).waitFor();
  await waitFor(
    () => salesOf(link),
    ([one]) => one?.status === 'redeemed',
  );
  expect(await salesOf(link)).toMatchObject([{ rail: 'quittance' }]);
});

test('an account whose answer is delayed pays once, whatever is reloaded, and the page follows it', async () => {
  const link = await make();
  const { email } = buyer.signIn.account;
  const person = await signInPerson(stack, { email });
  const page = await opened({ person, wallet: buyer.wallet });
  await page.go('/');
  const before = await received();
  // The API has accepted it, and nobody is told.
  const accepted = new Promise<void>((resolve) => {
    void page.page.route('**/v1/settle', async (route) => {
      await route.fetch();
      resolve();
    });
  });
  await meet(page, link);
  await page.page.getByRole('button', { name: `Pay 0.05 USDC as ${email}` }).click();
  await accepted;
  await page.page.reload();
  await page.page.getByText('Confirming your payment').waitFor();
  expect(await payButton(page.page).count()).toBe(0);
  await page.page.unroute('**/v1/settle');
  await page.page.reload();
  await receiptLink(page.page).waitFor();
  expect(await salesOf(link)).toHaveLength(1);
  expect(await received()).toBe(before + PRICE - 10_000n);
});

test('a page whose account is signed out meanwhile lets no other account pay its payment', async () => {
  const link = await make();
  const { email } = buyer.signIn.account;
  const page = await opened({ person: await signInPerson(stack, { email }) });
  await page.go('/');
  await page.page.route('**/v1/settle', () => undefined);
  await meet(page, link);
  const clicked = page.page.waitForRequest('**/v1/settle');
  await page.page.getByRole('button', { name: `Pay 0.05 USDC as ${email}` }).click();
  await clicked;
  await page.page.context().clearCookies();
  await page.page.reload();
  await page.page.getByText(`${email} has begun to pay`).waitFor();
  await page.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.shoot('link-follow');
  expect(await page.findings()).toEqual([]);
  expect(await salesOf(link)).toEqual([]);
});

test('opening a link changes no environment that its reader has chosen in the console', async () => {
  const page = await opened({ person: await signInPerson(stack, { email: buyer.signIn.account.email }) });
  await page.go('/');
  const environment = () => page.page.evaluate(() => localStorage.getItem('quittance.environment'));
  await page.page.evaluate(() => localStorage.setItem('quittance.environment', 'live'));
  await meet(page, await make());
  await page.page.getByRole('button', { name: `Pay 0.05 USDC as ${buyer.signIn.account.email}` }).waitFor();
  expect(await environment()).toBe('live');
});

test('a link for one payment is paid by one of two open pages, and the other one loses nothing', async () => {
  const link = await make({ single_use: true });
  // One wallet in both pages may sign the same bytes, and both then show the one payment.
  const { wallet } = await createConsumer(api, stack);
  const [one, other] = [await opened({ wallet: buyer.wallet }), await opened({ wallet })];
  await meet(one, link);
  await meet(other, link);
  const before = await received();
  await payButton(one.page).click();
  await receiptLink(one.page).waitFor();
  await payButton(other.page).click();
  await other.page.getByText('This payment link is for one payment').first().waitFor();
  expect(await received()).toBe(before + PRICE);
  expect(await salesOf(link)).toHaveLength(1);
  await waitFor(
    () => shown(link),
    ({ status }) => status === 'paid',
  );
  await other.page.reload();
  await other.page.getByText('This payment link is for one payment').waitFor();
  expect(await payButton(other.page).count()).toBe(0);
  await other.shoot('link-taken');
  expect(await other.findings()).toEqual([]);
});

test('signed out, the page of a link fits a phone and is readable in dark colours', async () => {
  const page = await opened({ width: 'phone', colours: 'dark' });
  await meet(page, await make({ title: 'A tour with a title that is longer than a phone is wide, by far' }));
  await page.page.getByText('This browser has no Solana wallet').waitFor();
  expect(await page.findings()).toEqual([]);
  expect(await page.wider()).toEqual([]);
  await page.shoot('link-phone');
});

/** As a phone does with the code of a page: it reads the text, asks, and may pay. */
const scanned = async ({ page }: ConsolePage) => {
  const text = await readQr(page, 'Pay with your phone');
  // Solana Pay takes https only, and the stack of the tests has no certificate.
  expect(() => parseURL(text)).toThrow('link invalid');
  const { link } = parseURL(text.replace('http%3A', 'https%3A')) as TransactionRequestURL;
  return link.href.replace(/^https:/, 'http:');
};
const askedBy = (wallet: Keypair, link: string) => fetchTransaction(chain.connection, wallet.publicKey, link);

test('the wallet of a phone reads the code, pays, and the page shows the receipt', async () => {
  const link = await make({ success_url: 'https://shop.example/thanks' });
  const page = await opened({});
  await meet(page, link);
  const address = await scanned(page);
  expect(await (await fetch(address)).json()).toEqual({
    label: 'City tours: Harbour tour',
    icon: new URL('/favicon.svg', address).href,
  });
  await page.shoot('link-phone-code');
  expect(await page.findings()).toEqual([]);

  const [before, own] = await Promise.all([received(), chain.balance(buyer.wallet.publicKey)]);
  const transaction = await askedBy(buyer.wallet, address);
  await page.page.getByText('Confirm the payment on your phone').waitFor();
  await page.shoot('link-phone-pending');
  // While a phone may pay, nothing else does, also after a reload.
  expect(await page.page.getByText('Pay with an account').count()).toBe(0);
  await page.page.reload();
  await page.page.getByText('Confirm the payment on your phone').waitFor();
  expect(await page.page.getByText('Pay with an account').count()).toBe(0);
  expect(await received()).toBe(before);
  transaction.partialSign(buyer.wallet);
  await chain.connection.sendRawTransaction(transaction.serialize());
  await receiptLink(page.page).waitFor();
  expect(await received()).toBe(before + PRICE);
  expect(await chain.balance(buyer.wallet.publicKey)).toBe(own - PRICE);
  const [sale] = await waitFor(
    () => salesOf(link),
    ([one]) => one?.status === 'redeemed',
  );
  expect(sale).toMatchObject({ rail: 'x402', scope: { payment_link: { title: 'Harbour tour' } } });
  await waitFor(
    () => shown(link),
    ({ payments }) => payments === 1,
  );
  const onward = await page.page.getByRole('link', { name: 'Continue to shop.example' }).getAttribute('href');
  expect(onward).toBe(`https://shop.example/thanks?quittance_settlement=${sale!.settlement_id}`);
  await receiptLink(page.page).click();
  await page.page.getByText('Signature valid').waitFor();
});

test('a page says nothing of a payment of another link, which a stranger has asked for with its handle', async () => {
  const [link, own] = [await make(), await make({ title: 'Own', quote_amount: '20000' })];
  const page = await opened({});
  await meet(page, link);
  const address = await scanned(page);
  const transaction = await askedBy(buyer.wallet, address.replace(link.payment_link_id, own.payment_link_id));
  transaction.partialSign(buyer.wallet);
  await chain.connection.sendRawTransaction(transaction.serialize());
  await waitFor(
    () => salesOf(own),
    ([one]) => one?.status === 'redeemed',
  );
  const asked = () => page.page.waitForResponse('**/v1/payment-links/phone-payments');
  for (let times = 0; times < 2; times += 1)
    expect(await (await asked()).json()).toEqual({ status: 'waiting' });
  await page.page.getByRole('img', { name: 'Pay with your phone' }).waitFor();

  // Not even if the API said so: the receipt decides.
  const [sale] = await salesOf(own);
  const path = `GET /v1/settlements/${sale!.settlement_id}/receipt`;
  type Receipt = { receipt_url: string; claims: { transaction: { signature: string } } };
  const { receipt_url, claims } = await must(
    api<Receipt>(path as 'GET /', { token: vendor.apiKey }),
    'receipt',
  );
  const { signature: tx_hash } = claims.transaction;
  await page.page.route('**/v1/payment-links/phone-payments', (route) =>
    route.fulfill({
      json: { settlement_id: sale!.settlement_id, status: 'confirmed', tx_hash, receipt_url },
    }),
  );
  await page.page.getByText('whose receipt is not of this link').waitFor();
  expect(await page.page.getByText('Paid', { exact: true }).count()).toBe(0);
});

test('a phone whose account cannot pay is told why, and the code of a link for one payment opens the page', async () => {
  const page = await opened({ width: 'phone', colours: 'dark' });
  await meet(page, await make());
  const address = await scanned(page);
  expect(await page.wider()).toEqual([]);
  expect(await page.findings()).toEqual([]);
  await page.shoot('link-phone-code');
  const body = JSON.stringify({ account: Keypair.generate().publicKey.toBase58() });
  const refused = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect([refused.status, await refused.json()]).toMatchObject([
    402,
    { message: 'this account has no USDC that it can pay with; use another account' },
  ]);

  const single = await make({ single_use: true });
  await meet(page, single);
  await page.page.getByText('This link is for one payment').waitFor();
  expect(await readQr(page.page, 'Pay with your phone')).toBe(page.page.url());
  const asked = await fetch(address.replace(/pl_[0-9a-z]+/, single.payment_link_id));
  expect([asked.status, await asked.json()]).toMatchObject([
    409,
    { message: expect.stringContaining('for one payment') },
  ]);
});

const stranger = Keypair.generate();
const refuse = () => {
  throw new Error('User rejected the request.');
};
test.each<[string, Parameters<typeof opened>[0], string]>([
  ['refuses', { signer: refuse }, 'Test Wallet did not sign. Nothing was paid.'],
  [
    'shows another account before it signs',
    { next: stranger },
    'Test Wallet did not sign. Nothing was paid.',
  ],
  [
    'signs for another account',
    { signer: signAsOther(stranger) },
    'Test Wallet returned another transaction than the one this page has built',
  ],
])('a wallet that %s pays no link, and the page says so', async (_, options, said) => {
  const link = await make({ single_use: true });
  const page = await opened({ wallet: buyer.wallet, ...options });
  const before = await received();
  await meet(page, link);
  await payButton(page.page).click();
  await page.page.getByRole('alert').getByText(said).waitFor();
  await payButton(page.page).waitFor();
  expect(await received()).toBe(before);
  expect(await salesOf(link)).toEqual([]);
});

test('a wallet without money pays nothing, and the link can be paid then', async () => {
  const link = await make({ single_use: true });
  const page = await opened({ wallet: Keypair.generate() });
  await meet(page, link);
  await payButton(page.page).click();
  await page.page.getByText(/^(Not enough USDC in your wallet|The chain refuses the payment)/).waitFor();
  await payButton(page.page).waitFor();
  expect(await shown(link)).toMatchObject({ status: 'active', payments: 0 });
});

test('a wallet that adds a guard, as Phantom does, pays the link once', async () => {
  const link = await make();
  const guard = guardOf(chain.tokenAccount(buyer.wallet.publicKey), true);
  const signer = signChanged(buyer.wallet, (built) => [...built, guard]);
  const page = await opened({ wallet: buyer.wallet, signer });
  const before = await received();
  await meet(page, link);
  await payButton(page.page).click();
  await receiptLink(page.page).waitFor();
  expect(await received()).toBe(before + PRICE);
});

test('a link that does not exist or was deactivated offers no payment', async () => {
  const link = await make();
  await must(
    api(`POST /v1/payment-links/${link.payment_link_id}/deactivate`, { token: vendor.apiKey, body: {} }),
    'deactivate',
  );
  const page = await opened({ wallet: buyer.wallet });
  await page.page.goto(address(link));
  await page.page.getByText('This payment link is not active any more').waitFor();
  await page.page.goto(address(link).replace(/.$/, (last) => (last === '0' ? '1' : '0')));
  await page.page.getByText('This payment link does not exist').waitFor();
  expect(await payButton(page.page).count()).toBe(0);
});
