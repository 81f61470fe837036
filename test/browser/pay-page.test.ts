import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import type { Page } from 'playwright-core';
import { type Consumer, createConsumer, createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { waitFor } from '../support/base/wait.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import {
  openerWithWallet,
  signAsOther,
  signChanged,
  startPageVendor,
} from '../support/browser/paying-page.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';
import { guardOf } from '../support/stand-ins/stand-in-programs.ts';

/**
 * A person opens a paid address of a vendor in real Chromium, pays on the page of the API, and gets
 * the product: with wallets of the Wallet Standard and with an account, over a real stack.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
// The vendor is another origin, and so is the API, whose address leads to the page at localhost.
const suite = consoleSuite(stack, { except: /^foreign: http:\/\/127\.0\.0\.1:\d+\/(report|pay)/ });

const PRICE = 50_000n;
let vendor: Vendor;
let buyer: Consumer;
let shop: Awaited<ReturnType<typeof startPageVendor>>;
beforeAll(async () => {
  [vendor, buyer] = await Promise.all([
    createVendor(api, stack, { price: PRICE, name: 'City reports' }),
    createConsumer(api, stack),
  ]);
  // The platform creates the token account of the payout address.
  await must(api('GET /v1/settlements/foreign/terms', { token: vendor.apiKey }), 'terms');
  await waitFor(
    () => chain.connection.getAccountInfo(chain.tokenAccount(vendor.payout.publicKey)),
    (account) => account !== null,
  );
  shop = await startPageVendor(stack, vendor);
});
afterAll(() => shop?.stop());

const opened = openerWithWallet(suite);
/** Opens an address of the vendor, until the payment page shows what is sold. */
const meet = async ({ page }: ConsolePage, address: string): Promise<void> => {
  await page.goto(address);
  await page.getByRole('heading', { name: 'City reports' }).waitFor();
};
const payButton = (page: Page) => page.getByRole('button', { name: 'Pay 0.05 USDC with Test Wallet' });
const product = (page: Page) => page.getByRole('heading', { name: 'All is well' });
const soldTo = (city: string) => shop.runs.filter((each) => each.endsWith(city)).length;
const received = () => chain.balance(vendor.payout.publicKey);

test('one click in the page and one in the wallet lead from a 402 to the product, once', async () => {
  const page = await opened({ wallet: buyer.wallet });
  const before = await received();
  await meet(page, `${shop.url}?city=Ulm`);
  const { host } = new URL(shop.url);
  expect(await page.page.title()).toBe(`Pay 0.05 USDC to City reports for ${host}/report`);
  expect(new URL(page.page.url()).hostname).toBe('localhost');
  await page.page.getByText(vendor.payout.publicKey.toBase58()).waitFor();
  await page.shoot('pay');
  expect(await page.findings()).toEqual([]);
  await payButton(page.page).click();
  await product(page.page).waitFor();
  expect(page.page.url()).toBe(`${shop.url}?city=Ulm`);
  expect(await received()).toBe(before + PRICE);

  // The payment is in no address, and a reload shows the same product.
  await page.page.reload();
  await product(page.page).waitFor();
  expect(soldTo('Ulm')).toBe(1);
  const { data } = await must(
    api<{ data: { status: string; rail: string; payer_address: string }[] }>(
      'GET /v1/settlements?rail=x402',
      { token: vendor.apiKey },
    ),
    'list',
  );
  expect(data[0]).toMatchObject({
    status: 'redeemed',
    payer_address: buyer.wallet.publicKey.toBase58(),
  });
  // Another person who gets the link meets the 402.
  const other = await opened();
  await meet(other, page.page.url());
});

test('an account pays after a sign-in, and the product is delivered once', async () => {
  const person = await signInPerson(stack, { email: buyer.signIn.account.email });
  const page = await opened({ person });
  // The payment page reads the cookie of the sign-in only where one is known.
  await page.go('/');
  await meet(page, `${shop.url}?city=Bonn`);
  await page.shoot('pay-account');
  await page.page.getByRole('button', { name: `Pay 0.05 USDC as ${buyer.signIn.account.email}` }).click();
  await product(page.page).waitFor();
  expect(page.page.url()).toBe(`${shop.url}?city=Bonn`);
  expect(soldTo('Bonn')).toBe(1);
});

test('signed out, the page offers a sign-in, fits a phone and is readable in dark colours', async () => {
  const page = await opened({ width: 'touch', colours: 'dark' });
  await meet(page, `${shop.url}?city=Kiel`);
  const browse = page.page.getByRole('link', { name: 'Open in Phantom' });
  expect(await browse.getAttribute('href')).toBe(
    `https://phantom.app/ul/browse/${encodeURIComponent(`${shop.url}?city=Kiel`)}` +
      `?ref=${encodeURIComponent(new URL(stack.console_url).origin)}`,
  );
  expect(await page.page.getByRole('link', { name: 'Solflare', exact: true }).getAttribute('href')).toBe(
    'https://solflare.com/download',
  );
  // No phone scans its own screen.
  expect(await page.page.getByRole('img', { name: 'Pay with your phone' }).count()).toBe(0);
  expect(await page.findings()).toEqual([]);
  expect(await page.wider()).toEqual([]);
  await page.shoot('pay-phone');
  await page.page.getByRole('button', { name: 'Sign in to pay' }).click();
  await page.page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  await page.shoot('pay-phone-sign-in');
  expect(await page.findings()).toEqual([]);
  expect(await page.wider()).toEqual([]);
  expect(soldTo('Kiel')).toBe(0);
});

const other = Keypair.generate();
const refuse = () => {
  throw new Error('User rejected the request.');
};
test.each<[string, Parameters<typeof opened>[0], string]>([
  ['refuses', { signer: refuse }, 'Test Wallet did not sign. Nothing was paid.'],
  ['shows another account before it signs', { next: other }, 'Test Wallet did not sign. Nothing was paid.'],
  [
    'signs for another account',
    { signer: signAsOther(other) },
    'Test Wallet returned another transaction than the one this page has built',
  ],
])('a wallet that %s pays nothing, and the page says so', async (_, options, said) => {
  const page = await opened({ wallet: buyer.wallet, ...options });
  const before = await received();
  await meet(page, `${shop.url}?city=Jena`);
  await payButton(page.page).click();
  await page.page.getByRole('alert').getByText(said).waitFor();
  expect(await page.findings()).toEqual([]);
  await payButton(page.page).waitFor();
  expect(await received()).toBe(before);
  expect(soldTo('Jena')).toBe(0);
});

test('a wallet without money comes back to the page, with the reason and a new price', async () => {
  const page = await opened({ wallet: Keypair.generate() });
  await meet(page, `${shop.url}?city=Hof`);
  await payButton(page.page).click();
  await page.page.getByText(/^(Not enough USDC in your wallet|The chain refuses the payment)/).waitFor();
  await payButton(page.page).waitFor();
  await page.shoot('pay-refused');
  expect(soldTo('Hof')).toBe(0);
});

const { publicKey: stranger } = Keypair.generate();
const tip = () =>
  SystemProgram.transfer({ fromPubkey: buyer.wallet.publicKey, toPubkey: stranger, lamports: 1000 });
const ownGuard = (holds = true) => guardOf(chain.tokenAccount(buyer.wallet.publicKey), holds);

test.each<[string, string, () => TransactionInstruction[]]>([
  ['a guard, as Phantom does,', 'Rom', () => [ownGuard()]],
  ['two guards, as Solflare does,', 'Pisa', () => [guardOf(buyer.wallet.publicKey), ownGuard()]],
])('a wallet that adds %s pays once and gets the product', async (_, city, added) => {
  const signer = signChanged(buyer.wallet, (built) => [...built, ...added()]);
  const page = await opened({ wallet: buyer.wallet, signer });
  const before = await received();
  await meet(page, `${shop.url}?city=${city}`);
  await payButton(page.page).click();
  await product(page.page).waitFor();
  expect([await received(), soldTo(city)]).toEqual([before + PRICE, 1]);
});

test.each<[string, () => TransactionInstruction[], string]>([
  [
    'a guard about the vendor’s account',
    () => [guardOf(chain.tokenAccount(vendor.payout.publicKey))],
    'Test Wallet added instructions that are not accepted',
  ],
  ['a tip', () => [tip()], 'Test Wallet returned another transaction than the one this page has built'],
  ['a guard that does not hold', () => [ownGuard(false)], 'The chain refuses the payment.'],
])('a wallet that adds %s pays nothing, and the page says so', async (_, added, said) => {
  const signer = signChanged(buyer.wallet, (built) => [...built, ...added()]);
  const page = await opened({ wallet: buyer.wallet, signer });
  const before = await received();
  await meet(page, `${shop.url}?city=Bari`);
  await payButton(page.page).click();
  await page.page.getByText(said).waitFor();
  await payButton(page.page).waitFor();
  expect([await received(), soldTo('Bari')]).toEqual([before, 0]);
});

test('an order that was changed on its way is refused before anything is signed', async () => {
  const page = await opened({ wallet: buyer.wallet });
  await meet(page, `${shop.url}?city=Prag`);
  const { origin, pathname, hash } = new URL(page.page.url());
  const order = JSON.parse(Buffer.from(hash.slice(1), 'base64url').toString()) as object;
  const changed = (more: object) =>
    `${origin}${pathname}#${Buffer.from(JSON.stringify({ ...order, ...more })).toString('base64url')}`;
  await page.page.goto(changed({ back: 'https://evil.example/report' }));
  await page.page.getByText('The quote is for another address').waitFor();
  expect(await payButton(page.page).count()).toBe(0);
  await page.page.goto(changed({ quote: 'a.b' }));
  await page.page.getByText('was not signed by this installation').waitFor();
});
